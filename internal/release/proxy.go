package main

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const root = "github.com/azpatterns/azpatterns"

// nested are the folders of the modules that are released with the root module.
var nested = []string{"patterns/otel", "query/vet"}

// serve writes the modules of the tree to dir, in the layout of a module proxy. In the tree the nested modules first lose
// their replace directives, which no other module obeys and go install refuses, and require the released version.
func serve(tree, dir, version string) error {
	if err := publish(tree, ".", dir, version); err != nil {
		return err
	}
	for _, folder := range nested {
		for _, args := range [][]string{
			{"mod", "edit", "-dropreplace=" + root, "-require=" + root + "@" + version},
			{"mod", "tidy"},
		} {
			if err := run(filepath.Join(tree, folder), environment(dir), "go", args...); err != nil {
				return err
			}
		}
		if err := publish(tree, folder, dir, version); err != nil {
			return err
		}
	}
	return nil
}

// environment makes the go command use the modules in dir, those of the module cache, and only then a proxy.
func environment(dir string) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		panic(err) // there is no go command
	}
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(dir)+",file://"+filepath.ToSlash(cache)+"/cache/download,"+strings.TrimSuffix(proxy, ",direct"),
		"GOMODCACHE="+filepath.Join(dir, "cache"),
		"GOFLAGS=-mod=mod -modcacherw -trimpath",
		"GOSUMDB=off", // it does not know the version; the module cache is verified
		"GOWORK=off",
	)
}

// publish writes the four files of one module.
func publish(tree, folder, dir, version string) error {
	path := strings.TrimSuffix(root+"/"+filepath.ToSlash(folder), "/.")
	at := filepath.Join(dir, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(tree, folder, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q}`, version),
		version + ".mod":  string(mod),
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	if err := addFiles(z, filepath.Join(tree, folder), path+"@"+version); err != nil {
		return err
	}
	return z.Close()
}

// addFiles adds the files of a folder without those of modules in it.
func addFiles(z *zip.Writer, folder, prefix string) error {
	return filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != folder {
				return filepath.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		w, err := z.Create(prefix + "/" + filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
}

// run runs a command, and returns its output as an error if it fails.
func run(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
