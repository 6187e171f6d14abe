// Package azurite runs Azurite, Microsoft's storage emulator, for tests and examples: the pinned npm package, in
// memory, on free ports of the loopback interface, without telemetry.
//
// All processes of a user share one Azurite, for example the test processes that `go test ./...` runs concurrently.
// Each process keeps one connection to the supervisor process that runs Azurite. The connection is closed by Close, or
// by the kernel when the process ends for any reason. The supervisor stops Azurite a few seconds after the last
// connection is closed. The processes share one storage account, so names must be unique.
//
// https://learn.microsoft.com/azure/storage/common/storage-use-azurite
package azurite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The name and the key of the account of every Azurite. Both are publicly documented.
const (
	AccountName = "devstoreaccount1"
	AccountKey  = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// ErrUnavailable is matched by the error of a machine that cannot run Azurite: Node.js or npm is missing, or the
// installation failed, for example without a network. The error text contains the reason.
var ErrUnavailable = errors.New("azurite: not available")

// grace is how long Azurite continues to run without users. It is longer than `go test ./...` usually needs to link the
// next test binary.
const grace = 5 * time.Second

// Options are the options of Start. The zero value is valid.
type Options struct {
	// Log is called before steps that take seconds, such as the first installation. If nil, nothing is logged.
	Log func(message string)
}

// Azurite is a connection to a running Azurite, which keeps it running.
type Azurite struct {
	conn    net.Conn
	at      endpoints
	logFile string
	ended   chan struct{}
}

// newAzurite returns an Azurite that closes ended when the connection ends.
func newAzurite(conn net.Conn, at endpoints, logFile string) *Azurite {
	a := &Azurite{conn: conn, at: at, logFile: logFile, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		io.Copy(io.Discard, conn)
	}()
	return a
}

// Start connects to the running Azurite of this user, or starts one. The first start installs the npm package into the
// user's cache directory. Start returns when all three services answer. ctx applies only to Start, not to the Azurite
// that it returns.
//
// If the machine cannot run Azurite, the error matches ErrUnavailable.
func Start(ctx context.Context, opts *Options) (*Azurite, error) {
	if opts == nil {
		opts = &Options{}
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	s := site{
		installDir: filepath.Join(cache, "azurite-"+hash(packageLock)),
		runDir:     filepath.Join(cache, "run-"+hash(packageLock, supervisorScript)),
		grace:      grace,
		log:        opts.Log,
	}
	return s.start(ctx)
}

// Close closes the connection. Azurite ends a few seconds after its last connection is closed.
func (a *Azurite) Close() error { return a.conn.Close() }

// Err returns nil while Azurite runs. After it has ended, the error contains the last output of the supervisor process.
func (a *Azurite) Err() error {
	select {
	case <-a.ended:
		output, err := os.ReadFile(a.logFile)
		return errors.Join(fmt.Errorf("azurite: process %d has ended: %s", a.at.PID, tail(output)), err)
	default:
		return nil
	}
}

// PID returns the id of the process that runs Azurite.
func (a *Azurite) PID() int { return a.at.PID }

// TableURL returns the URL of the table service, including the account.
func (a *Azurite) TableURL() string { return a.at.Table + "/" + AccountName }

// QueueURL returns the URL of the queue service, including the account.
func (a *Azurite) QueueURL() string { return a.at.Queue + "/" + AccountName }

// BlobURL returns the URL of the blob service, including the account.
func (a *Azurite) BlobURL() string { return a.at.Blob + "/" + AccountName }

// ConnectionString returns the argument for the NewServiceClientFromConnectionString functions of the Azure packages.
func (a *Azurite) ConnectionString() string {
	return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s;QueueEndpoint=%s;TableEndpoint=%s;",
		AccountName, AccountKey, a.BlobURL(), a.QueueURL(), a.TableURL())
}

// cacheDir returns the folder for installations and rendezvous files, which belongs to one user.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: cache folder: %w", ErrUnavailable, err)
	}
	dir = filepath.Join(dir, "azpatterns")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w: create the cache folder: %w", ErrUnavailable, err)
	}
	return dir, nil
}
