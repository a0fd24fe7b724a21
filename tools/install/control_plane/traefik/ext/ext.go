// Package ext is what Traefik's module refers to, and no module holds: extensions of its configuration. There are none.
package ext

// HTTP extends the configuration of HTTP.
type HTTP struct{}

// Router extends the configuration of a router.
type Router struct{}

// DeepCopyInto copies nothing.
func (*HTTP) DeepCopyInto(*HTTP) {}

// DeepCopyInto copies nothing.
func (*Router) DeepCopyInto(*Router) {}
