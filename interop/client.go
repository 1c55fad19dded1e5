package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// checks are what each client does, in the order of the table.
var checks = []string{
	"connect", "introspect", "types", "prepared", "cursor", "pipeline", "copy", "cancel", "rollback", "errors",
}

// client is a program with a client of Postgres in it, as its client.json says.
type client struct {
	Name     string     `json:"name"`
	Language string     `json:"language"`
	Needs    []string   `json:"needs"`
	Install  [][]string `json:"install"`
	Version  []string   `json:"version"`
	Run      []string   `json:"run"`
	TLS      string     `json:"tls"` // verifies, binds or nothing

	root    string // of the checkout
	dir     string // below root
	version string // what Version printed
	failed  string // why it cannot run; empty: it can
}

// key is the client's name in flags, files and databases.
func (c *client) key() string { return filepath.Base(c.dir) }

// findClients reads every client of the checkout, by language and name.
func findClients(root string) ([]*client, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "interop", "*", "*", "client.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no clients below %s/interop; run from the checkout's root", root)
	}
	var all []*client
	taken := map[string]string{}
	for _, file := range files {
		c, err := readClient(root, file)
		if err != nil {
			return nil, err
		}
		if other := taken[c.key()]; other != "" {
			return nil, fmt.Errorf("%s and %s have one name", other, c.dir)
		}
		taken[c.key()] = c.dir
		all = append(all, c)
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].Language != all[j].Language {
			return all[i].Language < all[j].Language
		}
		return strings.ToLower(all[i].Name) < strings.ToLower(all[j].Name)
	})
	return all, nil
}

func readClient(root, file string) (*client, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &client{root: root}
	if c.dir, err = filepath.Rel(root, filepath.Dir(file)); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if c.Name == "" || c.Language == "" || len(c.Run) == 0 || len(c.Version) == 0 {
		return nil, fmt.Errorf("%s: name, language, version and run are required", file)
	}
	if !slices.Contains([]string{"", verifies, binds}, c.TLS) {
		return nil, fmt.Errorf("%s: tls is %q or %q", file, verifies, binds)
	}
	return c, nil
}
