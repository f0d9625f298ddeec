// A client-go program for the tests: an informer and an elected leader, nothing else of ours.
//
//	client-go watch NAMESPACE            one line per change of a ConfigMap: added|updated|deleted NAME VALUE; "synced" when the first list is through
//	client-go elect NAMESPACE IDENTITY   takes part in an election by Lease: leading, stopped, leader NAME
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	exitOn(err)
	client, err := kubernetes.NewForConfig(config)
	exitOn(err)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	switch {
	case len(os.Args) == 3 && os.Args[1] == "watch":
		watch(ctx, client, os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "elect":
		elect(ctx, client, os.Args[2], os.Args[3])
	default:
		exitOn(fmt.Errorf("usage: client-go watch NAMESPACE | elect NAMESPACE IDENTITY"))
	}
}

func watch(ctx context.Context, client kubernetes.Interface, namespace string) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	say := func(what string, object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		configMap := object.(*corev1.ConfigMap)
		fmt.Println(what, configMap.Name, configMap.Data["value"])
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { say("added", object) },
		UpdateFunc: func(before, object any) {
			// after a new list everything is told again
			if before.(*corev1.ConfigMap).ResourceVersion != object.(*corev1.ConfigMap).ResourceVersion {
				say("updated", object)
			}
		},
		DeleteFunc: func(object any) { say("deleted", object) },
	})
	exitOn(err)
	factory.Start(ctx.Done())
	if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		fmt.Println("synced")
	}
	<-ctx.Done()
}

func elect(ctx context.Context, client kubernetes.Interface, namespace, identity string) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "elected"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   8 * time.Second,
		RenewDeadline:   6 * time.Second,
		RetryPeriod:     500 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leading") },
			OnStoppedLeading: func() { fmt.Println("stopped") },
			OnNewLeader:      func(name string) { fmt.Println("leader", name) },
		},
	})
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
