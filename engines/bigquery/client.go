package bigquery

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	rest "google.golang.org/api/bigquery/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// client has the two connections to the service: requests of jobs and tables go by REST, rows come by gRPC. All methods may be
// called concurrently.
type client struct {
	rest      *rest.Service
	transport *http.Transport
	storage   storagepb.BigQueryReadClient
	grpc      *grpc.ClientConn
	timeout   time.Duration // for the answer to one request
}

const scope = "https://www.googleapis.com/auth/bigquery"

func newClient(s engines.Server) (*client, error) {
	c := &client{timeout: seconds(s.Options["connect_timeout"], 30*time.Second)}
	c.transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: c.timeout}).DialContext, TLSHandshakeTimeout: c.timeout,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
	}
	tokens, err := tokensOf(s, &http.Client{Transport: c.transport, Timeout: c.timeout})
	if err != nil {
		return nil, err
	}
	plain := &http.Client{Transport: c.transport}
	if tokens != nil {
		plain.Transport = &oauth2.Transport{Source: tokens, Base: c.transport}
	}
	options := []option.ClientOption{option.WithHTTPClient(plain), option.WithUserAgent("sluice")}
	if u := s.Options["endpoint"]; u != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(u, "/")+"/bigquery/v2/"))
	}
	if c.rest, err = rest.NewService(context.Background(), options...); err != nil {
		return nil, err
	}
	return c, c.dial(s, tokens)
}

// What of a stream of rows may be on its way, whatever the network holds: rows that nobody asks for stay at the service.
const (
	streamWindow     = 512 << 10
	connectionWindow = 4 << 20
	// largestMessage is what the service calls its largest one.
	largestMessage = 129 << 20
)

// dial makes the connection for rows, which connects at the first use.
func (c *client) dial(s engines.Server, tokens oauth2.TokenSource) error {
	address := s.Options["storage_endpoint"]
	if address == "" {
		address = "bigquerystorage.googleapis.com:443"
	}
	host, _, _ := net.SplitHostPort(address)
	options := []grpc.DialOption{
		grpc.WithUserAgent("sluice"), grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connectionWindow),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestMessage)), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 5 * time.Minute, Timeout: time.Minute}),
	}
	encrypted := !isEmulator(s.Options) && !isLoopback(host)
	if encrypted {
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})))
	} else {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	if tokens != nil {
		options = append(options, grpc.WithPerRPCCredentials(bearer{tokens, encrypted}))
	}
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		return err
	}
	c.grpc, c.storage = conn, storagepb.NewBigQueryReadClient(conn)
	return nil
}

func (c *client) close() {
	c.transport.CloseIdleConnections()
	_ = c.grpc.Close()
}

// within bounds one request.
func (c *client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
}

// routed names what a request is about in a header, which the service finds its way by.
func routed(ctx context.Context, name, value string) context.Context {
	escaped := strings.NewReplacer("%", "%25", "/", "%2F", "&", "%26", "=", "%3D", "+", "%2B", " ", "%20").Replace(value)
	return metadata.AppendToOutgoingContext(ctx, "x-goog-request-params", name+"="+escaped)
}

// bearer authorises requests for rows.
type bearer struct {
	tokens    oauth2.TokenSource
	encrypted bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	t, err := b.tokens.Token()
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + t.AccessToken}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.encrypted }

// tokensOf is what the user mapping says; nil for an emulator. What the machine of the proxy may do is nobody's to use: its own
// credentials are not looked for.
func tokensOf(s engines.Server, plain *http.Client) (oauth2.TokenSource, error) {
	key, token := s.Mapping["service_account"], s.Mapping["access_token"]
	switch {
	case isEmulator(s.Options):
		return nil, nil
	case token != "":
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: strings.TrimSpace(token)}), nil
	case key == "":
		return nil, pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "no credentials"),
			"CREATE USER MAPPING … OPTIONS (service_account 'file:PATH'), or access_token.")
	}
	var form struct {
		Type string `json:"type"`
	}
	config, err := google.JWTConfigFromJSON([]byte(key), scope)
	if err != nil || json.Unmarshal([]byte(key), &form) != nil || form.Type != "service_account" { // whose text says nothing of the key
		return nil, pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, `option "service_account" is not the key of a service account`),
			`Make a key of type JSON for the service account, and name its file: service_account 'file:PATH'.`)
	}
	return config.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, plain)), nil
}
