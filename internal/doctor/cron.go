package doctor

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How often a schedule starts a workflow, by the syntax of POSIX cron that GitHub documents ("Events
// that trigger workflows: schedule").

// cron is one line of a schedule: which values of each field it has, a bit each.
type cron struct {
	minute, hour, day, month, weekday uint64
	anyDay, anyWeekday                bool
}

// cronFields are the fields of a line, in order.
var cronFields = []struct {
	least, most int
	names       []string
}{
	{0, 59, nil}, {0, 23, nil}, {1, 31, nil},
	{1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{0, 6, []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
}

// parseCron reads a line of a schedule; ok is false for what is none.
func parseCron(line string) (c cron, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != len(cronFields) {
		return c, false
	}
	var sets [5]uint64
	for i, text := range fields {
		for part := range strings.SplitSeq(text, ",") {
			set, ok := cronPart(part, i)
			if !ok {
				return c, false
			}
			sets[i] |= set
		}
	}
	return cron{sets[0], sets[1], sets[2], sets[3], sets[4], fields[2] == "*", fields[4] == "*"}, true
}

// cronPart reads one of the values, ranges and steps of a field.
func cronPart(text string, field int) (set uint64, ok bool) {
	f := cronFields[field]
	values, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		if step, ok = cronNumber(stepText); !ok || step < 1 || step > f.most {
			return 0, false
		}
	}
	from, to := f.least, f.most
	if values != "*" {
		first, last, ranged := strings.Cut(values, "-")
		if from, ok = cronValue(first, field); !ok {
			return 0, false
		}
		if to = from; ranged {
			if to, ok = cronValue(last, field); !ok {
				return 0, false
			}
		} else if stepped {
			to = f.most
		}
	}
	for v := from; v <= to; v += step {
		set |= 1 << v
	}
	return set, set != 0
}

// cronValue reads a number of a field, or its name.
func cronValue(text string, field int) (n int, ok bool) {
	f := cronFields[field]
	if i := slices.Index(f.names, strings.ToUpper(text)); i >= 0 {
		return f.least + i, true
	}
	n, ok = cronNumber(text)
	return n, ok && n >= f.least && n <= f.most
}

func cronNumber(text string) (n int, ok bool) {
	if len(text) > 2 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// on reports whether the line has a day. One that names days of the month and of the week has both.
func (c *cron) on(day time.Time) bool {
	inMonth, inWeek := c.day>>day.Day()&1 == 1, c.weekday>>int(day.Weekday())&1 == 1
	if c.month>>int(day.Month())&1 == 0 {
		return false
	}
	if c.anyDay || c.anyWeekday {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}

// scheduled is how many days are looked at: four years, in which each date is there once.
const scheduled = 4*365 + 1

// longestGap returns the longest time between two starts by some lines; ok is false where there are
// not two starts in four years.
func longestGap(lines []cron) (gap time.Duration, ok bool) {
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	last := -1
	for n := range scheduled {
		day := begin.AddDate(0, 0, n)
		var minutes [24]uint64
		for i := range lines {
			if c := &lines[i]; c.on(day) {
				for hour := range minutes {
					if c.hour>>hour&1 == 1 {
						minutes[hour] |= c.minute
					}
				}
			}
		}
		for hour, set := range minutes {
			for ; set != 0; set &= set - 1 {
				at := (n*24+hour)*60 + bits.TrailingZeros64(set)
				if last >= 0 {
					gap, ok = max(gap, time.Duration(at-last)*time.Minute), true
				}
				last = at
			}
		}
	}
	return gap, ok
}
