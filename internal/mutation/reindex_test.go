package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Conditions of package reindex.
var reindexMutants = []mutation.Mutant{
	{
		Name: "reindex: jobs count twice", Flags: by("TestASharedRunIsLikeOneOnOneMachine"), File: "patterns/reindex/runs.go",
		Old:    "		if s.Stage != job.Stage || slices.Contains(s.Done, job.Part) {\n			return nil\n		}",
		New:    "		if s.Stage != job.Stage {\n			return nil\n		}",
		Breaks: "A job is counted once, however often it is done.",
	},
	{
		Name: "reindex: refused run", Flags: by("TestARefusedRunChangesNothing"), File: "patterns/reindex/runs.go",
		Old:    "	if err == nil && m.Kind == filling {\n		err = m.mayBegin(ctx)",
		New:    "	if false {\n		err = m.mayBegin(ctx)",
		Breaks: "A run that is refused changes nothing.",
	},
	{
		Name: "reindex: all fail together", Flags: by("TestBackfillReportsAPrimaryThatCannotBeChangedAndFillsTheOthers"), File: "patterns/reindex/repair.go",
		Old:    "	case len(ins) == 1:\n",
		New:    "	case len(ins) >= 1:\n",
		Breaks: "If a transaction of several primaries fails, each is changed in its own.",
	},
	{
		Name: "reindex: no confirmation", Flags: by("TestTheSumOfTheSketches|TestEveryPlanted"), File: "patterns/reindex/scan.go",
		Old:    "		r.addParts(wanted, 1)\n",
		New:    "		r.addParts(wanted, 0)\n",
		Breaks: "A sketch contains what rows imply and subtracts what they contain.",
	},
}
