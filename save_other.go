//go:build !unix

package blocked

// syncDir does nothing: this system has no such call.
func syncDir(string) error { return nil }
