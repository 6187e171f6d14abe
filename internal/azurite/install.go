package azurite

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var (
	//go:embed package.json
	packageJSON []byte
	//go:embed package-lock.json
	packageLock []byte
	//go:embed supervisor.js
	supervisorScript []byte
)

// installArgs install exactly what the lock file names, run no code of the packages, and give up soon without a
// network.
var installArgs = []string{
	"ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-update-notifier",
	"--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000",
}

func hash(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// site is where one Azurite is installed and where its users find it.
type site struct {
	installDir string // holds node_modules once the installation is complete, and does not exist before
	runDir     string // holds the supervisor script, the rendezvous file and the log
	grace      time.Duration
	log        func(string)
	other      *manifest // what is installed if not Azurite
}

// manifest is what npm installs: package.json and package-lock.json.
type manifest struct{ packages, lock []byte }

func (s *site) manifest() manifest {
	if s.other != nil {
		return *s.other
	}
	return manifest{packageJSON, packageLock}
}

func (s *site) tell(message string) {
	if s.log != nil {
		s.log(message)
	}
}

// install puts the npm package in installDir unless it is there. Processes that need it at the same time wait for the
// one that installs. The folder gets its name when it is complete, so an interrupted installation is never used.
func (s *site) install(ctx context.Context) error {
	if installed(s.installDir) {
		return nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("%w: npm is not on the PATH", ErrUnavailable)
	}
	release, err := lock(ctx, s.installDir+".lock")
	if err != nil {
		return err
	}
	defer release()
	if installed(s.installDir) {
		return nil
	}
	if reason := s.recentFailure(); reason != "" {
		return fmt.Errorf("%w: %s", ErrUnavailable, reason)
	}
	s.tell("installing npm packages into " + s.installDir + ", once")
	return s.installLocked(ctx, npm)
}

func (s *site) installLocked(ctx context.Context, npm string) error {
	partial := s.installDir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("azurite: remove an interrupted installation: %w", err)
	}
	if err := os.Mkdir(partial, 0o700); err != nil {
		return fmt.Errorf("%w: no folder to install it in: %w", ErrUnavailable, err)
	}
	defer os.RemoveAll(partial)
	m := s.manifest()
	for name, content := range map[string][]byte{"package.json": m.packages, "package-lock.json": m.lock} {
		if err := os.WriteFile(filepath.Join(partial, name), content, 0o600); err != nil {
			return fmt.Errorf("%w: write its package files: %w", ErrUnavailable, err)
		}
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, npm, installArgs...)
	cmd.Dir = partial
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		reason := fmt.Sprintf("npm could not install it (is there a network?): %v\n%s", err, tail(output.Bytes()))
		if ctx.Err() == nil {
			// Without the note the next process would only try again, a matter of seconds.
			_ = os.WriteFile(s.failureNote(), []byte(reason), 0o600)
		}
		return fmt.Errorf("%w: %s", ErrUnavailable, reason)
	}
	return os.Rename(partial, s.installDir)
}

// retryAfter is how long a failed installation is not tried again, so that without a network the many processes of one
// `go test ./...` do not each wait for npm to give up.
const retryAfter = time.Minute

func (s *site) failureNote() string { return s.installDir + ".failed" }

// recentFailure is why the last installation failed, if that was within retryAfter.
func (s *site) recentFailure() string {
	info, err := os.Stat(s.failureNote())
	if err != nil {
		return ""
	}
	age := time.Since(info.ModTime())
	reason, err := os.ReadFile(s.failureNote())
	if err != nil || age < 0 || age > retryAfter {
		return ""
	}
	return fmt.Sprintf("%s\n(that was %v ago; after %v it is tried again)", reason, age.Round(time.Second), retryAfter)
}

func installed(dir string) bool {
	_, err := os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// environment is this process's, less what would change how Azurite runs.
func environment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "AZURITE_") && !strings.HasPrefix(entry, "NODE_OPTIONS=") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// tail is the last lines of a tool's output, enough to say why it failed.
func tail(output []byte) string {
	const most = 1000
	text := bytes.TrimSpace(output)
	return string(text[max(0, len(text)-most):])
}
