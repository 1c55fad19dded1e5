// Command sluice is the proxy's binary: serve, demo, check and version. It holds flags and wiring only: it turns flags,
// environment and config file into the Config of package proxy and names the engines.
//
// The one rule: nothing here decides how a statement is answered.
package main
