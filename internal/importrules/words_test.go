package importrules

// inText are expressions that a reader has to read twice, and words that only this project uses. They occur neither in
// comments, messages and documents nor in names.
var inText = words([][2]string{
	{`gives?|gave`, `"returns", "stores" or "assigns"`},
	{`stands?|stood|standing`, `"is", "is stored in" or "represents"`},
	{`nobody`, `"no one", or name the actor`},
	{`somebody`, `"another process", or name the actor`},
	{`whoever`, `"a caller that", or name the actor`},
	{`everybody`, `"all callers", or name the actors`},
	{`tells?|told`, `"reports", "contains", "distinguishes" or "receives"`},
	{`says|said`, `"contains", "states" or "reports"`},
	{`dearer|dearest`, `"more expensive", "most expensive"`},
	{`at once`, `"immediately" or "concurrently"`},
	{`for good`, `"permanently"`},
	{`mend|mends|mended|mending`, `"repair" or "fix"`},
	{`of (?:its|their|his|her) own accord`, `"automatically"`},
	{`beside`, `"next to" or "in addition to"`},
	{`behind (?:step|request)`, `"after"`},
	{`looks? after`, `"handles" or "repairs"`},
	{`(?:is|are) none of`, `"is not a"`},
	{`that (?:is|are) none`, `"invalid"`},
	{`(?:cannot|can not|must not) be had`, `"is not available"`},
	{`has it that`, `"if"`},
	{`comes by`, `"runs"`},
	{`bury|buries|buried|burial|burials`, `"move to poison"`},
	{`tickets?`, `"operation state"`},
	{`slabs?`, `"buffer"`},
	{`lens`, `"view info"`},
	{`chores?`, `"periodic task"`},
	{`shelf`, `"archive"`},
	{`testbeds?|test beds?`, `"harness"`},
	{`wake-?ups?`, `"outbox message"`},
	{`misplaced`, `"invalid effect"`},
	{`settle|settles|settled|settling`, `"resolve"`},
	{`where (?:there (?:is|are) no(?:ne)?|nothing is|none is)`, `"if"`},
})

// inNames are further words that do not occur in the names of files and declarations. In a sentence they can be right.
var inNames = words([][2]string{
	{`take over`, `"process" or "acquire"`},
	{`attend`, `"process"`},
	{`lost race`, `"retryable"`},
	{`peek outbox`, `"read outbox"`},
	{`rmw`, `"computed"`},
	{`lane|lanes`, `"partition queue"`},
	{`relieve`, `"flush largest"`},
	{`recycle`, `"release"`},
	{`gather|scatter`, `"join" or "split"`},
	{`slip|slips`, `the name of the subject`},
	{`doubt`, `"outcome unknown"`},
	{`evidence`, `"verdict"`},
	{`dispute`, `"resolve owner"`},
	{`recast`, `"with value" or "decode"`},
	{`noted`, `"annotated"`},
	{`suit|suits`, `"valid effects"`},
	{`mover|movers`, `"move"`},
	{`rest as`, `"decode as"`},
	{`again test`, `the subject of the test`},
	{`misuse test`, `the subject of the test`},
	{`survive test`, `the subject of the test`},
	{`bag|bag test`, `"unknown properties"`},
})

// notYet are the folders, without their subfolders, and the files whose language is not rewritten yet.
var notYet = []string{}
