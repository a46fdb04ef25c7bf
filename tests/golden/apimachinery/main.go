// Asks the real apimachinery what quantities and label selectors mean, and writes its answers beside
// this file, one JSON object a line. Run it with `go mod tidy && go run .` when the version in go.mod
// changes; the tests read the tables and need no Go.
package main

import (
	"encoding/json"
	"os"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
)

type quantityRow struct {
	Text      string `json:"text"`
	Canonical string `json:"canonical,omitempty"`
	Format    string `json:"format,omitempty"`
	Nanos     string `json:"nanos,omitempty"`
	Refused   bool   `json:"refused,omitempty"`
}

type pairRow struct {
	Left       string `json:"left"`
	Right      string `json:"right"`
	Sum        string `json:"sum"`
	Difference string `json:"difference"`
	Order      int    `json:"order"`
}

type selectorRow struct {
	Text      string `json:"text"`
	Canonical string `json:"canonical"`
	Refused   bool   `json:"refused,omitempty"`
	// One character for each of labelSets: does the selector match it?
	Matches string `json:"matches,omitempty"`
}

// String() returns some inputs as they were written ("+1", "1.500"); this never does.
func canonical(q resource.Quantity) string {
	number, suffix := q.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

func nanos(q resource.Quantity) string {
	return new(inf.Dec).Round(q.AsDec(), 9, inf.RoundUp).UnscaledBig().String()
}

func quantityOf(text string) quantityRow {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return quantityRow{Text: text, Refused: true}
	}
	return quantityRow{Text: text, Canonical: canonical(q), Format: string(q.Format), Nanos: nanos(q)}
}

func pairOf(left, right string) pairRow {
	l, r := resource.MustParse(left), resource.MustParse(right)
	sum, difference := l.DeepCopy(), l.DeepCopy()
	sum.Add(r.DeepCopy())
	difference.Sub(r.DeepCopy())
	return pairRow{left, right, canonical(sum), canonical(difference), l.Cmp(r)}
}

func selectorOf(text string) selectorRow {
	selector, err := labels.Parse(text)
	if err != nil {
		return selectorRow{Text: text, Refused: true}
	}
	matches := ""
	for _, set := range labelSets {
		if selector.Matches(set) {
			matches += "1"
		} else {
			matches += "0"
		}
	}
	return selectorRow{Text: text, Canonical: selector.String(), Matches: matches}
}

func write[Row any](name string, rows []Row) {
	file, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	for _, row := range rows {
		if err := encoder.Encode(row); err != nil {
			panic(err)
		}
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
}

func main() {
	var quantities []quantityRow
	for _, number := range numbers {
		for _, suffix := range suffixes {
			quantities = append(quantities, quantityOf(number+suffix))
		}
	}
	for _, text := range odd {
		quantities = append(quantities, quantityOf(text))
	}
	write("quantities.jsonl", quantities)

	var pairs []pairRow
	for _, left := range operands {
		for _, right := range operands {
			pairs = append(pairs, pairOf(left, right))
		}
	}
	write("quantity-pairs.jsonl", pairs)

	var selectors []selectorRow
	for _, text := range strings.Split(strings.TrimSpace(selectorTexts), "\n") {
		selectors = append(selectors, selectorOf(text))
	}
	for _, text := range []string{
		"", " ", "\t", "a=\tb", "a\n=\nb", "\ra", strings.Repeat("a", 63), strings.Repeat("a", 64),
		"k=" + strings.Repeat("v", 63), "k=" + strings.Repeat("v", 64),
		strings.Repeat("a.", 126) + "a/k", strings.Repeat("a.", 127) + "a/k",
		"a=é", "é", "a\u00a0=b",
	} {
		selectors = append(selectors, selectorOf(text))
	}
	write("selectors.jsonl", selectors)
	write("label-sets.jsonl", labelSets)
}
