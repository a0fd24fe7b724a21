// Package auth stands in for Traefik's fork of go-http-auth, which the module proxy lacks. It rejects everybody: the
// tests use no middleware that asks for a password.
package auth

import "net/http"

// SecretProvider returns the secret of a user.
type SecretProvider func(user, realm string) string

// BasicAuth is the middleware's view of basic authentication.
type BasicAuth struct {
	Realm   string
	Secrets SecretProvider
}

// RequireAuth rejects the request.
func (*BasicAuth) RequireAuth(w http.ResponseWriter, _ *http.Request) { reject(w) }

// CheckSecret accepts no password.
func CheckSecret(_, _ string) bool { return false }

// DigestAuth is the middleware's view of digest authentication.
type DigestAuth struct{}

// NewDigestAuthenticator ignores its arguments.
func NewDigestAuthenticator(_ string, _ SecretProvider) *DigestAuth { return &DigestAuth{} }

// CheckAuth knows no user.
func (*DigestAuth) CheckAuth(*http.Request) (string, *string) { return "", nil }

// RequireAuth rejects the request.
func (*DigestAuth) RequireAuth(w http.ResponseWriter, _ *http.Request) { reject(w) }

// RequireAuthStale rejects the request.
func (*DigestAuth) RequireAuthStale(w http.ResponseWriter, _ *http.Request) { reject(w) }

// DigestAuthParams finds none.
func DigestAuthParams(string) map[string]string { return nil }

func reject(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }
