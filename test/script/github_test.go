package script_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
	"github.com/rogpeppe/go-internal/testscript"
)

// Transcripts talk to a stand-in for GitHub, which each of them starts for itself.

// standins is the name under which a transcript keeps its stand-in.
type standins struct{}

// standinHolder holds the stand-in of one transcript, nil until it is started.
type standinHolder struct{ *githubtest.GitHub }

// standin is the command of transcripts that starts a stand-in, says what is there,
// makes it fail, and shows what was written:
//
//	standin start
//	standin pull SHA OWNER BRANCH  its last commit, after those that it was before
//	standin commit SHA FOLDER
//	standin merged SHA PATH…     the pull request was merged as its last commit, which changed these files
//	standin another NUMBER SHA AUTHOR PATH…  there is another pull request, which changes these files
//	standin lands NUMBER SHA PATH…  it was merged as this commit, which changed these files
//	standin approve NUMBER AUTHOR [SHA]  somebody approves the last commit of it, or an earlier one
//	standin review AUTHOR STATE [COUNT]  somebody reviewed its last commit, so often
//	standin message SHA FILE     what a commit says
//	standin wrote SHA [AUTHOR [COMMITTER]]  who wrote a commit, where GitHub knows an account
//	standin body NUMBER FILE     what a pull request says
//	standin login LOGIN          whom the token belongs to
//	standin branch NAME [SHA]    the newest commit of a branch; none for no branch
//	standin protect              nobody may create another branch
//	standin close NUMBER         a pull request is closed
//	standin pulls FILE           the pull requests that were opened, and the commits of their branches
//	standin dismiss AUTHOR       what somebody said last is dismissed
//	standin team TEAM LOGIN…     a team that the token may read has these members
//	standin tokens FILE          the job may ask for identity tokens, with these claims
//	standin plant AUTHOR FILE
//	standin diff PATH FILE
//	standin run RUN ATTEMPT SHA [CONCLUSION]  an attempt at a run of this commit ended so
//	standin artifact RUN [FILE|link:NAME]…
//	standin fail OPERATION KIND
//	standin recover OPERATION       it does not fail any more
//	standin label NAME…          the pull request has these labels
//	standin labels FILE
//	standin readonly|truncate
//	standin comments|issues|checks|suggestions|calls FILE
func standin(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		holder := ts.Value(standins{}).(*standinHolder)
		if args[0] == "start" {
			holder.GitHub = githubtest.New(t)
			ts.Setenv("GITHUB_API_URL", holder.URL)
			ts.Setenv("INPUT_TOKEN", holder.Token)
			ts.Setenv("GITHUB_TOKEN", holder.Token)
			return
		}
		if holder.GitHub == nil {
			ts.Fatalf("there is no stand-in yet; begin with standin start")
		}
		holder.run(ts, args[0], args[1:])
	}
}

func (g *standinHolder) run(ts *testscript.TestScript, command string, args []string) {
	switch command {
	case "fail":
		kind, ok := githubtest.Kinds()[args[1]]
		if !ok || args[0] != githubtest.GraphQL && !slices.Contains(githubtest.Operations(), args[0]) {
			ts.Fatalf("no operation %q or no failure %q", args[0], args[1])
		}
		g.FailAlways(args[0], githubtest.Fault{Kind: kind})
	case "recover":
		g.Recover(args[0])
	case "tokens":
		for name, value := range g.TokenVariables() {
			ts.Setenv(name, value)
		}
		g.Locked(func() { ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &g.Claims)) })
	case "calls":
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(g.Calls(), "\n")+"\n"), 0o644))
	default:
		g.Locked(func() { g.state(ts, command, args) })
	}
}

// state changes or shows what is there.
func (g *standinHolder) state(ts *testscript.TestScript, command string, args []string) {
	switch command {
	case "pull":
		p := &g.Pulls[0]
		p.Commits, p.Head, p.Owner, p.Branch = append(p.Commits, p.Head), args[0], args[1], args[2]
		g.Commits[p.Head] = map[string]string{}
	case "label":
		g.Pulls[0].Labels = args
	case "labels":
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(g.Pulls[0].Labels, "\n")+"\n"), 0o644))
	case "merged":
		p := &g.Pulls[0]
		p.Head, p.Merged, p.Closed = args[0], args[0], true
		for _, name := range args[1:] {
			g.Changed[name] = []string{args[0]}
		}
	case "login":
		g.Login = args[0]
	case "branch":
		g.Branches[args[0]] = append(args, "")[1]
	case "protect":
		g.Protected = true
	case "pulls":
		g.pulls(ts, args[0])
	case "message":
		g.Messages[args[0]] = ts.ReadFile(args[1])
	case "wrote":
		by := append(args, "", "")[1:]
		g.Wrote[args[0]] = githubtest.Writers{Author: by[0], Committer: by[1]}
	case "another", "lands", "approve", "body", "close":
		g.another(ts, command, args)
	case "review":
		g.review(ts, args)
	case "dismiss":
		for i := range g.Reviews {
			if g.Reviews[i].Author == args[0] {
				g.Reviews[i].State = "DISMISSED"
			}
		}
	case "parted":
		g.Parted[args[0]+"..."+args[1]] = args[2]
	case "team":
		g.Teams[args[0]] = args[1:]
	case "plant":
		g.Comments = append(g.Comments, githubtest.Comment{ID: int64(len(g.Comments) + 1), Pull: 7, Author: args[0], Body: ts.ReadFile(args[1])})
	case "run":
		run := githubtest.Run{Head: args[2], Conclusion: strings.Join(args[3:], " ")}
		_, err := fmt.Sscan(args[0]+" "+args[1], &run.ID, &run.Attempt)
		ts.Check(err)
		g.Runs = []githubtest.Run{run}
	case "artifact":
		var run int64
		_, err := fmt.Sscan(args[0], &run)
		ts.Check(err)
		g.Artifacts = []githubtest.Artifact{{ID: 1, Run: run, Name: "packgate-report", Archive: archive(ts, args[1:])}}
	case "diff":
		// GitHub begins with the first hunk of what git prints.
		_, hunks, _ := strings.Cut(ts.ReadFile(args[1]), "\n@@")
		patch := strings.TrimSuffix("@@"+hunks, "\n")
		g.Files = append(g.Files, githubtest.File{Pull: 7, Path: args[0], Status: "modified", Patch: patch})
	case "suggestions":
		var b strings.Builder
		for _, c := range g.ReviewComments {
			fmt.Fprintf(&b, "by %s at %s:%d-%d:\n%s", c.Author, c.Path, c.StartLine, c.Line, c.Body)
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
	case "commit":
		g.Commits[args[0]] = filesIn(ts, args[1])
	case "truncate":
		g.Truncated = true
	case "readonly":
		g.ReadOnly = true
	case "comments":
		var b strings.Builder
		for _, c := range g.Comments {
			fmt.Fprintf(&b, "by %s:\n%s\n", c.Author, c.Body)
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
	case "issues":
		var b strings.Builder
		for _, one := range g.Issues {
			mark, text, _ := strings.Cut(one.Body, "\n") // the mark has digests of times
			fmt.Fprintf(&b, "#%d by %s, closed %t: %s\n%s…\n%s\n", one.Number, one.Author, one.Closed, one.Title, mark[:min(len(mark), 27)], text)
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
	case "checks":
		text, err := json.MarshalIndent(g.CheckRuns, "", "  ")
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o644))
	default:
		ts.Fatalf("standin has no command %q", command)
	}
}

// pulls writes what was opened by a client.
func (g *standinHolder) pulls(ts *testscript.TestScript, name string) {
	var b strings.Builder
	for _, p := range g.Pulls {
		if p.Title != "" {
			fmt.Fprintf(&b, "#%d by %s, from %s into %s: %s\n%s", p.Number, p.Author, p.Branch, p.Into, p.Title, p.Body)
			fmt.Fprintf(&b, "----\n%s\n----\n%s", g.Messages[p.Head], g.Commits[p.Head]["pins/prod.json"])
		}
	}
	text := shownSince.ReplaceAllString(b.String(), "since TIME;")
	ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
}

// shownSince is a time in the description of a pull request, which no two runs have in common.
var shownSince = regexp.MustCompile(`since 20\d\d-[^;]+ UTC;`)

// another adds a pull request beside the first one, or says what became of any.
func (g *standinHolder) another(ts *testscript.TestScript, command string, args []string) {
	number, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	i := slices.IndexFunc(g.Pulls, func(p githubtest.Pull) bool { return p.Number == number })
	if i < 0 {
		i, g.Pulls = len(g.Pulls), append(g.Pulls, githubtest.Pull{Number: number, Base: g.Pulls[0].Base})
	}
	p := &g.Pulls[i]
	switch command {
	case "lands":
		p.Merged, p.Closed = args[1], true
		for _, name := range args[2:] {
			g.Changed[name] = append([]string{args[1]}, g.Changed[name]...)
		}
	case "close":
		p.Closed = true
	case "body":
		p.Body = ts.ReadFile(args[1])
	case "approve":
		g.Reviews = append(g.Reviews, githubtest.Review{Pull: number, Author: args[1], State: "APPROVED", SHA: append(args, p.Head)[2], Status: "MEMBER"})
	default:
		p.Head, p.Author, p.Owner, p.Branch = args[1], args[2], args[2], "change"
		g.Commits[p.Head] = map[string]string{}
		for _, name := range args[3:] {
			g.Files = append(g.Files, githubtest.File{Pull: number, Path: name, Status: "modified"})
		}
	}
}

// review adds what somebody said of the last commit.
func (g *standinHolder) review(ts *testscript.TestScript, args []string) {
	count := 1
	if len(args) > 2 {
		_, err := fmt.Sscan(args[2], &count)
		ts.Check(err)
	}
	for range count {
		g.Reviews = append(g.Reviews, githubtest.Review{Pull: 7, Author: args[0], State: args[1], SHA: g.Pulls[0].Head, Status: "MEMBER"})
	}
}

// filesIn returns what the files of a folder say, by their paths below it, without
// those of git.
func filesIn(ts *testscript.TestScript, dir string) map[string]string {
	files, found := map[string]string{}, os.DirFS(ts.MkAbs(dir))
	ts.Check(fs.WalkDir(found, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == ".git" {
			return err
		}
		src, err := fs.ReadFile(found, name)
		files[name] = string(src)
		return err
	}))
	return files
}

// archive returns a zip archive of files by their base names. An argument link:NAME
// stands for a symbolic link of that name.
func archive(ts *testscript.TestScript, names []string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		header, text := &zip.FileHeader{Name: filepath.Base(name), Method: zip.Deflate}, ""
		if link, ok := strings.CutPrefix(name, "link:"); ok {
			header.Name, text = link, "/etc/passwd"
			header.SetMode(fs.ModeSymlink | 0o777)
		} else {
			header.SetMode(0o644)
			text = ts.ReadFile(name)
		}
		w, err := z.CreateHeader(header)
		ts.Check(err)
		_, err = w.Write([]byte(text))
		ts.Check(err)
	}
	ts.Check(z.Close())
	return out.Bytes()
}
