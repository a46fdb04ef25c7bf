// Everything of Kubernetes that the testbed runs, in one binary: the parts share most of their
// code, so that one link of 80 MB takes the place of six.
//
// The part to be is named by the first argument, or by the name of the link that was called.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var parts = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	arguments := slices.Clone(os.Args)
	arguments[0] = filepath.Base(arguments[0])
	if _, known := parts[arguments[0]]; !known && arguments[0] != "etcd" && len(arguments) > 1 {
		arguments = arguments[1:]
	}
	if arguments[0] == "etcd" {
		etcdmain.Main(arguments)
		return
	}
	part, known := parts[arguments[0]]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: kube etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubelet|kubectl …")
		os.Exit(2)
	}
	os.Args = arguments // kubectl reads it for its plugins
	os.Exit(cli.Run(part()))
}
