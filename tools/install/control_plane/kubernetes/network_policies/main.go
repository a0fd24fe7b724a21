// Enforces NetworkPolicies on the node that the second argument names, by the firewall of kube-router: without its routes and
// its proxy, whose libraries are most of it. The first argument is a kubeconfig, the third the range of Services.
package main

import (
	"os"
	"sync"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	config := options.NewKubeRouterConfig()
	config.EnableIPv4 = true
	config.HostnameOverride, config.ClusterIPCIDRs = os.Args[2], []string{os.Args[3]}

	clientConfig, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	client, err := kubernetes.NewForConfig(clientConfig)
	check(err)
	iptables, ipsets, err := netpol.NewIPTablesHandlers(config)
	check(err)
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	controller, err := netpol.NewNetworkPolicyController(
		client, config, pods, policies, namespaces, &sync.Mutex{}, iptables, ipsets,
	)
	check(err)
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods:       controller.PodEventHandler,
		namespaces: controller.NamespaceEventHandler,
		policies:   controller.NetworkPolicyEventHandler,
	} {
		_, err := informer.AddEventHandler(handler)
		check(err)
	}
	forever := make(chan struct{})
	factory.Start(forever)
	factory.WaitForCacheSync(forever)
	heartbeats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range heartbeats {
		}
	}()
	var done sync.WaitGroup
	done.Add(1)
	controller.Run(heartbeats, forever, &done)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
