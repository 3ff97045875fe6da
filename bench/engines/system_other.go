//go:build !linux

package main

import "runtime"

// system names the operating system.
func system() string { return runtime.GOOS }
