// One program that makes a host a node: the name it is called by says which part of it runs. The names of Services need
// three plugins of CoreDNS; the published program has some fifty, cloud libraries included.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case "kube-proxy":
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	case "coredns":
		dnsserver.Directives = []string{"bind", "errors", "kubernetes"}
		coremain.Run()
	default:
		fmt.Fprintf(os.Stderr, "%s: call this program by the name of a part of a node, such as kubelet\n", name)
		os.Exit(2)
	}
}
