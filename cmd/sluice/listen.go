package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// defaultListen is a port that neither Postgres (5432), a second cluster (5433) nor PgBouncer (6432) takes.
const defaultListen = "127.0.0.1:6543"

// listenAll opens every address, or none: host:port, or the absolute path of a unix socket.
func listenAll(addresses []string) ([]net.Listener, error) {
	if len(addresses) == 0 {
		return nil, errors.New("--listen is empty: give an address, for instance " + defaultListen)
	}
	var all []net.Listener
	for _, address := range addresses {
		l, err := listen(address)
		if err != nil {
			for _, open := range all {
				_ = open.Close()
			}
			return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
		}
		all = append(all, l)
	}
	return all, nil
}

func listen(address string) (net.Listener, error) {
	if !strings.HasPrefix(address, "/") {
		return net.Listen("tcp", address)
	}
	if err := removeStaleSocket(address); err != nil {
		return nil, err
	}
	return net.Listen("unix", address)
}

// removeStaleSocket removes the socket of a proxy that died. One that answers is left alone, and so is any other file.
func removeStaleSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return err
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		return c.Close()
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return os.Remove(path)
	}
	return nil
}

// psqlLine is how to connect to an address with psql.
func psqlLine(address, database string) string {
	const prefix = ".s.PGSQL."
	if dir, file := filepath.Split(address); strings.HasPrefix(file, prefix) {
		return fmt.Sprintf("psql -h %s -p %s -U postgres -d %s", filepath.Clean(dir), strings.TrimPrefix(file, prefix), database)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Sprintf("psql -h %s -U postgres -d %s", address, database)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("psql -h %s -p %s -U postgres -d %s", host, port, database)
}
