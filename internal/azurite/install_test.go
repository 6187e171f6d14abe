//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package azurite

import (
	"context"
	"errors"
	"github.com/azpatterns/azpatterns/internal/assert"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// withTools sets PATH to a folder that contains only these shell scripts.
func withTools(t *testing.T, scripts map[string]string) {
	t.Helper()
	bin := t.TempDir()
	for name, script := range scripts {
		assert.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script), 0o700))
	}
	t.Setenv("PATH", bin)
}

func newSite(t *testing.T) *site {
	dir := t.TempDir()
	return &site{installDir: filepath.Join(dir, "azurite"), runDir: filepath.Join(dir, "run"), grace: testGrace}
}

func TestTheErrorNamesAMissingTool(t *testing.T) {
	for missing, tools := range map[string]map[string]string{
		"node": {},
		"npm":  {"node": "exit 1"},
	} {
		t.Run(missing, func(t *testing.T) {
			withTools(t, tools)
			_, err := newSite(t).start(t.Context())
			assert.WantError(t, err, ErrUnavailable)
			assert.Contains(t, err.Error(), missing+" ")
		})
	}
}

func TestTheErrorOfAFailedInstallationContainsTheOutputOfNpm(t *testing.T) {
	withTools(t, map[string]string{"node": "exit 1", "npm": "mkdir node_modules; echo no route to registry >&2; exit 7"})
	s := newSite(t)
	_, err := s.start(t.Context())
	assert.WantError(assert.Now(t), err, ErrUnavailable)
	for _, want := range []string{"npm", "exit status 7", "no route to registry"} {
		assert.Contains(t, err.Error(), want, "the error does not contain", err)
	}
	for _, name := range []string{s.installDir, s.installDir + ".partial"} {
		assert.WantError(t, assert.ErrorOf(os.Stat(name)), os.ErrNotExist, name, "was not removed")
	}
}

func TestAFailedInstallationIsNotRepeatedByEveryProcess(t *testing.T) {
	calls := filepath.Join(t.TempDir(), "calls")
	withTools(t, map[string]string{"node": "exit 1", "npm": "echo call >>" + calls + "; echo no route >&2; exit 7"})
	s := newSite(t)
	for range 3 {
		err := s.install(t.Context())
		assert.WantError(assert.Now(t), err, ErrUnavailable)
		assert.Contains(assert.Now(t), err.Error(), "no route")
	}
	old := time.Now().Add(-2 * retryAfter)
	assert.NoError(t, os.Chtimes(s.failureNote(), old, old))
	s.install(t.Context())
	assert.Equal(t, string(assert.Must(os.ReadFile(calls))(t)), "call\ncall\n")
}

func TestWithoutANetworkTheRealNpmFailsWithAHint(t *testing.T) {
	t.Parallel()
	Shared(t)
	cmd := command(t, newSite(t), "install")
	cmd.Env = append(cmd.Env,
		"npm_config_registry=http://127.0.0.1:9", // the discard port, which is closed
		"npm_config_cache="+t.TempDir())
	output, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(output), ErrUnavailable.Error()) || !strings.Contains(string(output), "is there a network?") {
		t.Errorf("%v: %s", err, output)
	}
}

func TestAnInterruptedInstallationIsNotUsed(t *testing.T) {
	withTools(t, map[string]string{"npm": "test ! -e half && mkdir node_modules"})
	s := newSite(t)
	partial := s.installDir + ".partial"
	assert.NoError(t, errors.Join(os.MkdirAll(partial, 0o700), os.WriteFile(filepath.Join(partial, "half"), nil, 0o600)))
	assert.NoError(t, s.install(t.Context()))
	assert.Equal(t, assert.ErrorOf(os.Stat(filepath.Join(s.installDir, "node_modules"))), nil)
}

func TestConcurrentProcessesInstallOnce(t *testing.T) {
	s := newSite(t)
	calls := filepath.Join(t.TempDir(), "calls")
	withTools(t, map[string]string{"npm": "echo call >>" + calls + "; mkdir node_modules && sleep 0.2"})
	var wait sync.WaitGroup
	for range 4 {
		cmd := command(t, s, "install")
		wait.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	assert.Equal(t, string(assert.Must(os.ReadFile(calls))(t)), "call\n")
}

func TestWaitingForAnotherInstallationEndsWithTheContext(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	release := assert.Must(lock(t.Context(), name))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.WantError(t, assert.ErrorOf(lock(ctx, name)), context.Canceled)
	release()
	again := assert.Must(lock(t.Context(), name))(t)
	again()
}

func TestAnOldNodeIsUnavailable(t *testing.T) {
	withTools(t, map[string]string{"node": `echo '{"unusable":"Node.js 12.0.0 is too old"}'`, "npm": "mkdir node_modules"})
	_, err := newSite(t).start(t.Context())
	assert.WantError(t, err, ErrUnavailable)
	assert.Contains(t, err.Error(), "12.0.0 is too old")
}

func TestTheErrorOfAFailedStartContainsTheOutputOfAzurite(t *testing.T) {
	withTools(t, map[string]string{"node": "echo Exit due to unhandled error >&2; exit 1", "npm": "mkdir node_modules"})
	_, err := newSite(t).start(t.Context())
	if err == nil || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "Exit due to unhandled error") {
		t.Errorf("got %v", err)
	}
}

func TestAStartThatHangsEndsWithTheContext(t *testing.T) {
	hangs := filepath.Join(t.TempDir(), "hangs")
	assert.NoError(t, syscall.Mkfifo(hangs, 0o600))
	withTools(t, map[string]string{"node": "echo >" + hangs + "; exec sleep 60", "npm": "mkdir node_modules"})
	s := newSite(t)
	assert.NoError(t, s.install(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_, _ = os.ReadFile(hangs) // returns when the other end is closed
	}()
	assert.WantError(t, assert.ErrorOf(s.start(ctx)), context.Canceled)
}

func TestTheLockFileContainsHashesAndNoDownloadAddress(t *testing.T) { CheckLockFile(t, packageLock) }

func TestAzuriteDoesNotInheritSettingsOfTheUsersShell(t *testing.T) {
	t.Setenv("AZURITE_ACCOUNTS", "other:key")
	t.Setenv("NODE_OPTIONS", "--inspect")
	for _, entry := range environment() {
		if strings.HasPrefix(entry, "AZURITE_ACCOUNTS=") || strings.HasPrefix(entry, "NODE_OPTIONS=") {
			t.Errorf("%s is inherited", entry)
		}
	}
}

func TestTheModeDeterminesSkipOrFailure(t *testing.T) {
	missing := errors.Join(ErrUnavailable, errors.New("no npm"))
	broken := errors.New("broken")
	for _, c := range []struct {
		mode    string
		started error
		skips   bool
		fails   bool
	}{
		{"", nil, false, false},
		{"require", nil, false, false},
		{"", missing, true, false},
		{"require", missing, false, true},
		{"", broken, false, true},
		{"require", broken, false, true},
		{"off", nil, true, false},
		{"yes", nil, false, true},
	} {
		skip, err := checkMode(c.mode)
		if skip == "" && err == nil {
			skip, err = skipOrFail(c.mode, c.started)
		}
		assert.Equal(t, skip != "", c.skips)
		assert.Equal(t, err != nil, c.fails)
	}
}

func TestWithoutACacheFolderItIsUnavailable(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	assert.WantError(t, assert.ErrorOf(Start(t.Context(), nil)), ErrUnavailable)
}
