package main

import "k8s.io/apimachinery/pkg/labels"

var numbers = []string{
	"0", "1", "5", "10", "12", "100", "999", "1000", "1023", "1024", "1025", "1536", "2048", "1000000",
	"1048576", "0.5", "0.1", "1.5", "1.1", "1.25", "0.001", "0.0000000001", "1.0000000001", "123456789.987654321",
	".5", "1.", "007", "00.10", "+3", "-1", "-0.5", "-1.5", "-1024", "9223372036854775807",
	"9223372036854775808", "123456789012345678", "1234567890123456789", "99999999999999999999.999999999999",
}

var suffixes = []string{
	"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
	"e0", "e1", "e3", "E3", "e+2", "e-2", "E-9", "e-10", "e21",
}

var odd = []string{
	"", "+", "-", ".", "m", "Ki", "-Ki", "+.", "-.5m", "--1", "+-1", "1.2.3", "1..2", " 1", "1 ", "1\t", "1\n",
	"1e", "1E", "1e+", "1e-", "1E+", "1e3.5", "1e3e3", "1e3k", "1ek", "1ee3", "1Ki5", "1K", "1KI", "1ki", "1Kii",
	"1i", "1mi", "1Mm", "1kk", "1nn", "1-", "1+", "1-5", "1+5", "1m5", "0x10", "1_000", "1,5", "١", "１", "1µ",
	"1b", "1B", "1KB", "1KiB", "Infinity", "inf", "NaN", "nan", "null", "one", "e3", "E", "E3", "0e", "0E0",
	"-0", "+0", "0.0", "0.000", "-0.0Ki", "00", "000m", "1.500", "1.5000m", "100000000000000000000m", "1e-9", "1e-12",
	"1e100", "123e-11", "0.9Ki", "0.99999Ki", "1023.5", "1023.9Ki", "7.5Ei", "8Ei", "-8Ei", "7Ei", "16Ei", "-9Ei",
	"9007199254740993", "9007199254740993Ki", "0.3Gi", "2.5Gi", "0.0009Ki", "1000e3", "1000e-3", "10e-9", "12e-2",
	"1e00003", "1e+00", "1e-0",
}

var operands = []string{
	"0", "0Ki", "0e3", "1", "100m", "1500m", "1n", "-1", "-250m", "1k", "1Ki", "1.5Gi", "512Mi", "1e3", "15e-1",
	"7Ei", "-1Ki", "1000", "1024", "999999999999999999", "0.000000001",
}

const selectorTexts = `
a
!a
! a
a=b
a==b
a!=b
a = b
a  ==  b
a=
a==
a!=
a=,b
a= , b
a in (x)
a in (x,y)
a in (y,x)
a in (y, x, y)
a in ()
a in (,)
a in (,x)
a in (x,)
a in (x,,y)
a in(x)
a notin (x)
a notin (x,y)
a notin ()
a notin(x),b
a>1
a<2
a>1,a<10
a > 1
a>01
a>x
a>
a<-1
a>+1
a>1_0
a>1.5
a>9223372036854775807
a>9223372036854775808
in
notin
in in (in)
notin notin (notin,in)
in=notin
!in
!notin
in,notin
a=in
a in (in,notin)
b,a
b=1,a=2,c
z,!y,x=1
a,a
a=1,a=2
x in (foo,,baz),y,z notin ()
app.kubernetes.io/name=web
app.kubernetes.io/name in (web,api)
!node-role.kubernetes.io/control-plane
tier
tier=front-end
env=prod,tier!=front-end
env in (prod,dev),tier
weight>5
weight<5
A=B
a_b=c_d
a.b=c.d
a-b=c-d
1=2
,
a,
,a
a,,b
a,b,
a=b,
a=b,,c
=b
==b
!
!!a
!a=b
!a in (b)
a!
a!b
a=b=c
a==b==c
a===b
a=!b
a!==b
a in
a in x
a in (
a in (x
a in x)
a in (x y)
a in (x=y)
a in (x))
a in ((x)
a in (!x)
a notin
a notin x
a not in (x)
a IN (x)
a b
a b=c
a=b c
a=b c=d
(a)
a)
a(b)
a>1>2
a<>1
a><1
a>(1)
-a
a-
_a
.a
a.
a=-b
a=b-
a=_b
a=.b
a=b/c
a/b/c=d
/a
a/
A/b
a_b/c
-a/b
a.b/c=d
a..b/c
a/b
a b/c
a:b
a@b
a*
a=*
a="b"
a='b'
a;b
a&b
a|b
a+b
a%b
a#b
`

var labelSets = []labels.Set{
	{},
	{"a": ""},
	{"a": "b"},
	{"a": "x", "b": "1"},
	{"a": "2", "b": "1", "c": ""},
	{"a": "5"},
	{"a": "-5"},
	{"a": "9223372036854775807"},
	{"a": "9223372036854775808"},
	{"a": "in", "in": "in", "notin": "notin"},
	{"in": "notin", "notin": "x"},
	{"x": "foo", "y": "", "z": "1"},
	{"x": "1", "z": "0"},
	{"app.kubernetes.io/name": "web", "tier": "front-end", "env": "prod", "weight": "7"},
	{"app.kubernetes.io/name": "db", "tier": "back-end", "env": "dev", "weight": "heavy"},
	{"node-role.kubernetes.io/control-plane": ""},
	{"A": "B", "1": "2", "a.b": "c.d", "a-b": "c-d", "a_b": "c_d"},
	{"a.b/c": "d", "a/b": "x"},
}
