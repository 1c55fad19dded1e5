package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

// envPrefix begins the environment variable of a flag: --tls-cert is SLUICE_TLS_CERT.
const envPrefix = "SLUICE_"

const configFlag = "config"

// addConfigFlag adds --config to a command whose flags may stand in the environment and in a config file.
func addConfigFlag(cmd *cobra.Command) {
	cmd.Flags().String(configFlag, "", "YAML `FILE` with settings named as these flags")
}

// applySettings sets the flags that the command line left out from the environment, else from the config file. The keys
// of the file are the flags of serve, so that all commands can share one file.
func applySettings(cmd *cobra.Command) error {
	fromFile, err := readConfig(cmd)
	if err != nil {
		return err
	}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == configFlag || f.Name == "help" {
			return
		}
		source, values := "environment variable "+envName(f.Name), []string(nil)
		if value, ok := os.LookupEnv(envName(f.Name)); ok {
			values = []string{value}
		} else {
			source, values = "config file, key "+f.Name, fromFile[f.Name]
		}
		for _, value := range values {
			if err := f.Value.Set(value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", source, err))
			}
		}
	})
	return errors.Join(errs...)
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readConfig reads the file that --config or SLUICE_CONFIG names; nothing where neither does.
func readConfig(cmd *cobra.Command) (map[string][]string, error) {
	path, err := cmd.Flags().GetString(configFlag)
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = os.Getenv(envName(configFlag))
	}
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the config file: %w", err)
	}
	values, err := parseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("config file %s: %w", path, err)
	}
	return values, nil
}

// parseConfig returns the values of each key; a list has several.
func parseConfig(text []byte) (map[string][]string, error) {
	var nodes map[string]yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&nodes); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it holds more than one document")
	}
	known := configKeys()
	values := map[string][]string{}
	for key, node := range nodes {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("line %d: unknown key %q; the keys are %s", node.Line, key, strings.Join(known, ", "))
		}
		items := []*yaml.Node{&node}
		if node.Kind == yaml.SequenceNode {
			items = node.Content
		}
		for _, item := range items {
			if item.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: the value of %q must be a single value or a list of them", item.Line, key)
			}
			if item.Tag != "!!null" {
				values[key] = append(values[key], item.Value)
			}
		}
	}
	return values, nil
}

// configKeys lists what may stand in a config file: the flags of serve.
func configKeys() []string {
	var keys []string
	serveCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != configFlag {
			keys = append(keys, f.Name)
		}
	})
	return keys
}
