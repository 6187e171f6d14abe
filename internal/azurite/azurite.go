// Package azurite runs Azurite, Microsoft's storage emulator, for tests and examples: the pinned npm package, in
// memory, on free ports of the loopback interface, telemetry off.
//
// One Azurite serves every process of a user that asks for one at the same time, so that the packages that `go test
// ./...` tests side by side share it. Nobody owns it: each process holds one connection to the process that runs
// Azurite, and when the last of these connections has been closed for a few seconds, by Close or by the kernel when a
// process ends in any way at all, Azurite ends. Processes share the account, so names must be unique.
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

// The account that every Azurite has, with its publicly documented key.
const (
	AccountName = "devstoreaccount1"
	AccountKey  = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// ErrUnavailable matches the errors of a machine that cannot run Azurite: no Node.js, no npm, or an installation that
// failed, for want of a network for instance. The error text says which.
var ErrUnavailable = errors.New("azurite: not available")

// grace is how long Azurite outlives its last user. Longer than `go test ./...` usually needs to link the next test
// binary, short enough that nobody finds it running afterwards.
const grace = 5 * time.Second

// Options for Start. The zero value is useful.
type Options struct {
	// Log is told of steps that take seconds, such as the first installation. Nil: nobody is told.
	Log func(message string)
}

// Azurite is a hold on a running Azurite.
type Azurite struct {
	hold    net.Conn
	at      endpoints
	logFile string
	ended   chan struct{}
}

// held is an Azurite for as long as the connection lasts, which it watches.
func held(hold net.Conn, at endpoints, logFile string) *Azurite {
	a := &Azurite{hold: hold, at: at, logFile: logFile, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		io.Copy(io.Discard, hold)
	}()
	return a
}

// Start joins the running Azurite of this user, or starts one, which installs the npm package into the user's cache
// directory the first time. It returns when all three services answer. ctx bounds Start only.
//
// A machine that cannot run Azurite gives an error that matches ErrUnavailable.
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

// Close gives up the hold. Azurite itself ends a few seconds after its last hold.
func (a *Azurite) Close() error { return a.hold.Close() }

// Err is nil while Azurite runs. Afterwards it holds the last words of the process that ran it.
func (a *Azurite) Err() error {
	select {
	case <-a.ended:
		said, err := os.ReadFile(a.logFile)
		return errors.Join(fmt.Errorf("azurite: process %d has ended: %s", a.at.PID, tail(said)), err)
	default:
		return nil
	}
}

// PID is the process that runs Azurite.
func (a *Azurite) PID() int { return a.at.PID }

// TableURL is the address of the table service, account included.
func (a *Azurite) TableURL() string { return a.at.Table + "/" + AccountName }

// QueueURL is the address of the queue service, account included.
func (a *Azurite) QueueURL() string { return a.at.Queue + "/" + AccountName }

// BlobURL is the address of the blob service, account included.
func (a *Azurite) BlobURL() string { return a.at.Blob + "/" + AccountName }

// ConnectionString is what the NewServiceClientFromConnectionString functions of the Azure packages take.
func (a *Azurite) ConnectionString() string {
	return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s;QueueEndpoint=%s;TableEndpoint=%s;",
		AccountName, AccountKey, a.BlobURL(), a.QueueURL(), a.TableURL())
}

// cacheDir is the folder for installations and rendezvous files. It belongs to one user, as does the Azurite in it.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: no cache folder: %w", ErrUnavailable, err)
	}
	dir = filepath.Join(dir, "azpatterns")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w: no folder to install it in: %w", ErrUnavailable, err)
	}
	return dir, nil
}
