package enginetest

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines/certify"
)

// oneProducer reads the engine's own source: rows come from a driver in one place.
func oneProducer(_ context.Context, h Harness) error {
	if len(h.Source.Forbidden) == 0 && len(h.Source.Only) == 0 {
		return certify.Skip("the harness names no calls")
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var all []error
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, checkSource(h.Source, name, file, seen)...)
	}
	for call := range h.Source.Only {
		if !seen[call] {
			all = append(all, fmt.Errorf("nothing calls %s: the harness is out of date", call))
		}
	}
	return errors.Join(all...)
}

func checkSource(s Source, name string, file *ast.File, seen map[string]bool) []error {
	var all []error
	locals := map[string]string{} // a file's name for a package, to the last part of its path
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return []error{err}
		}
		if slices.Contains(s.Forbidden, p) {
			all = append(all, fmt.Errorf("%s imports %s", name, p))
		}
		locals[path.Base(p)] = path.Base(p)
		if spec.Name != nil {
			locals[spec.Name.Name] = spec.Name.Name
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok || locals[pkg.Name] == "" {
			return true
		}
		call := pkg.Name + "." + sel.Sel.Name
		seen[call] = true
		if slices.Contains(s.Forbidden, call) {
			all = append(all, fmt.Errorf("%s uses %s", name, call))
		}
		if only, ok := s.Only[call]; ok && only != name {
			all = append(all, fmt.Errorf("%s uses %s, which belongs into %s", name, call, only))
		}
		return true
	})
	return all
}
