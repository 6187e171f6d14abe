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

// installArgs install exactly the packages of the lock file, without running their scripts, and fail soon if there is no
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

// site contains the folders of one Azurite, and options.
type site struct {
	installDir string // contains node_modules when the installation is complete; does not exist before
	runDir     string // contains the supervisor script, the rendezvous file and the log
	grace      time.Duration
	log        func(string)
	other      *manifest // packages to install instead of Azurite
	args       []string  // more arguments of Azurite
}

// manifest contains package.json and package-lock.json.
type manifest struct{ packages, lock []byte }

func (s *site) manifest() manifest {
	if s.other != nil {
		return *s.other
	}
	return manifest{packageJSON, packageLock}
}

func (s *site) logMessage(message string) {
	if s.log != nil {
		s.log(message)
	}
}

// install installs the npm package in installDir, unless it is already installed. Only one process installs; the others
// wait for it. The folder is renamed to installDir when it is complete, so an interrupted installation is never used.
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
	s.logMessage("installing npm packages into " + s.installDir + " for the first time")
	return s.installLocked(ctx, npm)
}

func (s *site) installLocked(ctx context.Context, npm string) error {
	partial := s.installDir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("azurite: remove an interrupted installation: %w", err)
	}
	if err := os.Mkdir(partial, 0o700); err != nil {
		return fmt.Errorf("%w: create the installation folder: %w", ErrUnavailable, err)
	}
	defer os.RemoveAll(partial)
	m := s.manifest()
	for name, content := range map[string][]byte{"package.json": m.packages, "package-lock.json": m.lock} {
		if err := os.WriteFile(filepath.Join(partial, name), content, 0o600); err != nil {
			return fmt.Errorf("%w: write the package files: %w", ErrUnavailable, err)
		}
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, npm, installArgs...)
	cmd.Dir = partial
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		reason := fmt.Sprintf("npm failed (is there a network?): %v\n%s", err, tail(output.Bytes()))
		if ctx.Err() == nil {
			// If this fails, the next process only tries again, which takes seconds.
			_ = os.WriteFile(s.failureNote(), []byte(reason), 0o600)
		}
		return fmt.Errorf("%w: %s", ErrUnavailable, reason)
	}
	return os.Rename(partial, s.installDir)
}

// retryAfter is how long a failed installation is not repeated, so that without a network not every process of a
// `go test ./...` waits for npm to fail.
const retryAfter = time.Minute

func (s *site) failureNote() string { return s.installDir + ".failed" }

// recentFailure returns the reason why the last installation failed if that was less than retryAfter ago, and otherwise
// "".
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
	return fmt.Sprintf("%s\n(this was %v ago; the installation is repeated after %v)", reason, age.Round(time.Second), retryAfter)
}

func installed(dir string) bool {
	_, err := os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// environment returns the environment of this process without the variables that change how Azurite runs.
func environment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "AZURITE_") && !strings.HasPrefix(entry, "NODE_OPTIONS=") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// tail returns the end of a tool's output, for an error message.
func tail(output []byte) string {
	const most = 1000
	text := bytes.TrimSpace(output)
	return string(text[max(0, len(text)-most):])
}
