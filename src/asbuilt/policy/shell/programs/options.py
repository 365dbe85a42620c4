"""Options of the programs that only read, as in their manual pages. Pure data.

A row names programs, says what they take (`spec.Program`) and, with a dot, which function judges them further
(module and name). Their options follow the colon. Indented lines continue a row.

Rule: options that write a file, start a program, or read a list of further files are left out.
"""

from __future__ import annotations

TABLE = """\
# Contents of files.
cat files any: -A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number
    --squeeze-blank --show-tabs --show-nonprinting
bat,batcat files files.bat: -n -p -A -r=T -l=T -H=T --plain --number --show-all --line-range=T --language=T
    --style=T --color=T --paging=T --theme=T --decorations=T --highlight-line=T --tabs=N --wrap=T
    --terminal-width=N
tac files any: -b -r -s=T --before --regex --separator=T
rev files any: -0 --zero
nl files any: -b=T -d=T -f=T -h=T -i=N -l=N -n=T -p -s=T -v=N -w=N --body-numbering=T --section-delimiter=T
    --footer-numbering=T --header-numbering=T --line-increment=N --join-blank-lines=N --number-format=T
    --no-renumber --number-separator=T --starting-line-number=N --number-width=N
head files any: -c=N -n=N -q -v -z -# --bytes=N --lines=N --quiet --silent --verbose --zero-terminated
tail files any files.tail: -c=N -n=N -q -v -z -# -r -f -F --bytes=N --lines=N --quiet --silent --verbose
    --zero-terminated --follow[=T] --retry --pid=N --sleep-interval=N -s=N
wc files any: -c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=T
cut files any: -b=T -c=T -d=T -f=T -n -s -z --bytes=T --characters=T --delimiter=T --fields=T --complement
    --only-delimited --output-delimiter=T --zero-terminated
tr texts most=2: -c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1
fold files any: -b -s -w=N -# --bytes --spaces --width=N
fmt files any: -c -t -s -u -w=N -g=N -p=T -# --crown-margin --tagged-paragraph --split-only
    --uniform-spacing --width=N --goal=N --prefix=T
pr files any: -# -a -c -d -F -f -h=T -J -l=N -m -n -o=N -r -t -T -v -w=N -W=N
expand files any: -i -t=T --initial --tabs=T
unexpand files any: -a -t=T --all --first-only --tabs=T
column files any: -t -s=T -n -c=N -o=T -x -e -J -N=T -R=T -H=T -O=T -E=T -T=T -W=T -L -d -l=N -r=T -i=T -p=T
    --table --separator=T --output-separator=T --output-width=N --fillrows --keep-empty-lines --json
    --table-columns=T --table-right=T --table-hide=T --table-order=T --table-truncate=T --table-wrap=T
    --table-name=T --table-columns-limit=N --table-noheadings
comm files most=2: -1 -2 -3 -z --check-order --nocheck-order --output-delimiter=T --total --zero-terminated
join files most=2: -a=N -e=T -i -j=N -o=T -t=T -v=N -1=N -2=N -z --ignore-case --check-order --nocheck-order
    --header --zero-terminated
paste files any: -d=T -s -z --delimiters=T --serial --zero-terminated
tsort files most=1:
sort files: -b -d -f -g -h -i -M -n -R -r -V -k=T -s -u -z -t=T -c -C --check[=T] --parallel=N --debug
    --ignore-leading-blanks --dictionary-order --ignore-case --field-separator=T --general-numeric-sort
    --human-numeric-sort --ignore-nonprinting --month-sort --numeric-sort --random-sort --reverse --sort=T
    --version-sort --key=T --stable --unique --zero-terminated
shuf files: -e -i=T -n=N -r -z --echo --input-range=T --head-count=N --repeat --zero-terminated
uniq files plain most=1: -c -d -D -i -u -z -f=N -s=N -w=N --count --repeated --all-repeated[=T] --group[=T]
    --ignore-case --skip-fields=N --skip-chars=N --check-chars=N --unique --zero-terminated
diff files files.diff: -q -s -c -C=N -u -U=N -e -n -y -W=N -p -F=T -t -T -r -N -a -b -w -B -E -Z -i -I=T -d
    -x=T -X=F -D=T --brief --report-identical-files --context[=N] --unified[=N] --ed --rcs --side-by-side
    --width=N --left-column --suppress-common-lines --show-c-function --show-function-line=T --label=T
    --expand-tabs --initial-tab --tabsize=N --suppress-blank-empty --recursive --no-dereference --new-file
    --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case --exclude=T
    --exclude-from=F --starting-file=T --from-file=F --to-file=F --ignore-case --ignore-tab-expansion
    --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines
    --ignore-matching-lines=T --text --strip-trailing-cr --minimal --horizon-lines=N --speed-large-files
    --color[=T] --palette=T --normal
cmp files most=4: -b -i=T -l -n=N -s --print-bytes --ignore-initial=T --verbose --bytes=N --quiet --silent
od files any: -A=T -j=N -N=N -S=N -t=T -v -w=N -a -b -c -d -f -i -l -o -s -x --address-radix=T
    --skip-bytes=N --read-bytes=N --strings[=N] --format=T --output-duplicates --width[=N] --endian=T
hexdump,hd files any: -b -c -C -d -o -x -X -v -e=T -n=N -s=N -L[=T] --one-byte-octal --one-byte-char
    --canonical --two-bytes-decimal --two-bytes-octal --two-bytes-hex --length=N --skip=N --no-squeezing
    --format=T
strings files files.no_lists: -a -f -n=N -t=T -e=T -w -o -d -# --all --data --print-file-name --bytes=N
    --radix=T --encoding=T --include-all-whitespace
base64,base32 files most=1: -d -D -i -w=N --decode --ignore-garbage --wrap=N
md5sum,sha1sum,sha224sum,sha256sum,sha384sum,sha512sum files any: -b -t -z -c -w --binary --check --tag
    --text --zero --ignore-missing --quiet --status --strict --warn
md5 files any: -q -r -s=T
cksum files: -b -t -z -c -w --binary --check --tag --text --zero --ignore-missing --quiet --status --strict
    --warn -a=T -l=N --algorithm=T --length=N --untagged --raw --base64 --debug
b2sum files any: -b -t -z -c -w --binary --check --tag --text --zero --ignore-missing --quiet --status
    --strict --warn -l=N --length=N
sum files any: -r -s --sysv
shasum files: -a=N -b -c -t -U -0 -q -s -w --algorithm=N --check --quiet --status
zcat,gzcat,bzcat,xzcat,zstdcat files: -f -q --force --quiet
seq texts plain most=3: -f=T -s=T -w --format=T --separator=T --equal-width
factor texts plain:
expr texts plain:
numfmt texts plain: -d=T -z --delimiter=T --field=T --format=T --from=T --from-unit=N --grouping
    --header[=N] --padding=N --round=T --suffix=T --to=T --to-unit=N --invalid=T
iconv files files.iconv: -f=T -t=T -l -c -s --from-code=T --to-code=T --list --silent
# Names, kinds and sizes of files.
ls,dir,vdir names any files.ls: -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I=T -k -l -L -m -n -N -o -p -q
    -Q -r -R -s -S -t -T -u -U -v -w=N -x -X -Z -1 -@ -e -O -P --all --almost-all --author --escape
    --block-size=T --ignore-backups --color[=T] --directory --dired --classify[=T] --file-type --format=T
    --full-time --group-directories-first --no-group --human-readable --si --dereference-command-line
    --dereference-command-line-symlink-to-dir --hide=T --hyperlink[=T] --indicator-style=T --inode
    --ignore=T --kibibytes --dereference --numeric-uid-gid --literal --hide-control-chars
    --show-control-chars --quote-name --quoting-style=T --reverse --recursive --size --sort=T --time=T
    --time-style=T --tabsize=N --width=N --context --zero --help --version
tree names apart files.tree: -a -d -f -i -l -x -L=N -P=T -I=T -p -s -h -u -g -D -F -q -N -Q -r -t -c -U -v
    -n -C -A -S -J -X --gitignore --noreport --dirsfirst --filesfirst --filelimit=N --prune --du --si
    --sort=T --timefmt=T --matchdirs --ignore-case --inodes --device --charset=T --metafirst --nolinks
    --version --help
du names any files.du: -0 -a -b -c -d=N -D -h -H -k -L -l -m -P -S -s -t=T -x --null --all --apparent-size
    --block-size=T -B=T --bytes --total --dereference-args --max-depth=N --human-readable --inodes
    --dereference --count-links --no-dereference --separate-dirs --si --summarize --threshold=T --time[=T]
    --time-style=T --exclude=T -I=T --one-file-system --help --version
df names: -a -B=T -h -H -i -k -l -m -P -t=T -T -x=T -v -g --all --block-size=T --human-readable --si
    --inodes --local --no-sync --output[=T] --portability --total --type=T --print-type --exclude-type=T
    --help --version
stat names any: -L -f -c=T -t -x -s -n -r --dereference --file-system --cached=T --format=T --printf=T
    --terse --help --version
file names: -b -i -I -k -L -h -N -n -r -0 -e=T -F=T -P=T -v -E --brief --mime --mime-type --mime-encoding
    --extension --keep-going --dereference --no-dereference --no-pad --raw --print0 --exclude=T
    --separator=T --apple --version --help
readlink names any: -f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing
    --no-newline --quiet --silent --verbose --zero
realpath names any: -e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical
    --quiet --relative-to=D --relative-base=D --strip --no-symlinks --zero
basename texts any: -a -s=T -z --multiple --suffix=T --zero
dirname texts any: -z --zero
namei names: -x -m -o -l -n -v
pathchk names: -p -P --portability
lsblk none: -a -f -l -p -m -n -b -d -J -o=T
fd,fdfind texts files.fd: -H -I -u -s -i -g -F -a -L -p -d=N -E=T -t=T -e=T -S=T -c=T -j=N -0 -1 -q -o=T -h
    -V --hidden --no-hidden --no-ignore --ignore --no-ignore-vcs --no-ignore-parent --no-global-ignore-file
    --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path
    --relative-path --follow --no-follow --full-path --max-depth=N --min-depth=N --exact-depth=N --exclude=T
    --type=T --extension=T --size=T --changed-within=T --changed-before=T --newer=T --older=T
    --change-newer-than=T --change-older-than=T --owner=T --color=T --threads=N --max-results=N --quiet
    --show-errors --one-file-system --print0 --prune --and=T --format=T --path-separator=T
    --strip-cwd-prefix[=T] --search-path=D --base-directory=D --require-git --no-require-git --hyperlink[=T]
    --help --version
# Searches.
grep,egrep,fgrep texts any -V files.grep: -E -F -G -P -e=T -f=F -i -y -v -w -x -c -L -l -m=N -o -q -s
    -b -H -h -n -T -Z -A=N -B=N -C=N -# -a -I -r -R -z -U -u -d=T -D=T --directories=T --devices=T
    --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp=T --file=F --ignore-case
    --no-ignore-case --invert-match --word-regexp --line-regexp --count --color[=T] --colour[=T]
    --files-without-match --files-with-matches --max-count=N --only-matching --quiet --silent --no-messages
    --byte-offset --with-filename --no-filename --label=T --line-number --initial-tab --null
    --after-context=N --before-context=N --context=N --group-separator=T --no-group-separator --text
    --binary-files=T --exclude=T --exclude-from=F --exclude-dir=T --include=G --recursive
    --dereference-recursive --line-buffered --null-data --binary -V --version --help
zgrep pattern least=2 -V: -E -F -G -P -i -v -w -x -c -l -n -o -q -s -h -H -A=N -B=N -C=N -m=N
rg texts -V files.rg: -e=T -f=F -A=N -B=N -C=N -b -c -i -s -S -F -g=G -. -h -H -I -j=N -l -L -m=N -M=N
    -n -N -o -p -P -q -r=T -t=T -T=T -u -U -v -w -x -0 -a -E=T -d=N -V --after-context=N --auto-hybrid-regex
    --before-context=N --binary --no-binary --block-buffered --byte-offset --case-sensitive --color=T
    --colors=T --column --no-column --context=N --context-separator=T --no-context-separator --count
    --count-matches --crlf --dfa-size-limit=T --encoding=T --no-encoding --engine=T
    --field-context-separator=T --field-match-separator=T --file=F --files --files-with-matches
    --files-without-match --fixed-strings --no-fixed-strings --follow --no-follow --glob=G
    --glob-case-insensitive --heading --no-heading --help --hidden --no-hidden --iglob=G --ignore-case
    --ignore-file=F --ignore-file-case-insensitive --include-zero --invert-match --no-invert-match --json
    --no-json --line-buffered --line-number --no-line-number --line-regexp --max-columns=N
    --max-columns-preview --max-count=N --max-depth=N --maxdepth=N --max-filesize=T --mmap --no-mmap
    --multiline --no-multiline --multiline-dotall --no-config --no-ignore --ignore --no-ignore-dot
    --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent
    --no-ignore-vcs --no-messages --no-unicode --null --null-data --one-file-system --only-matching
    --passthru --path-separator=T --pcre2 --no-pcre2 --pretty --quiet --regex-size-limit=T --regexp=T
    --replace=T --smart-case --sort=T --sortr=T --sort-files --stats --stop-on-nonmatch --text --no-text
    --threads=N --trim --no-trim --type=T --type-not=T --type-add=T --type-clear=T --type-list
    --unrestricted --version --pcre2-version --vimgrep --with-filename --no-filename --word-regexp
    --no-require-git --no-stats --no-pre --no-search-zip
ag texts least=1 -V files.ag: -A=N -B=N -C=N -c -F -i -l -L -m=N -n -Q -s -S -U -v -w --ackmate
    --after=N --before=N --color --nocolor --column --count --depth=N --filename --nofilename
    --files-with-matches --files-without-matches --fixed-strings --group --nogroup --heading --noheading
    --hidden --ignore=T --ignore-case --literal --max-count=N --numbers --nonumbers --only-matching
    --smart-case --vimgrep --word-regexp --python --js --go --rust --java --ruby --nopager
# Object files.
nm files files.no_lists: -a -A -C -D -f=T -g -n -p -P -r -S -u -U --demangle --dynamic --extern-only
    --numeric-sort --print-size --size-sort --undefined-only --defined-only
objdump files files.no_lists: -a -C -d -D -f -h -p -r -R -s -t -T -x -w -j=T -M=T --disassemble[=T]
    --demangle --all-headers --syms --dynamic-syms --section-headers --section=T
readelf files files.no_lists: -a -h -l -S -g -t -e -s -n -r -u -d -V -A -D -I -W -x=T -p=T --all
    --file-header --program-headers --segments --section-headers --sections --headers --syms --symbols
    --dyn-syms --notes --relocs --dynamic --wide
size files files.no_lists: -A -B -d -o -x -t --format=T --totals
# The machine, its processes and its clock.
date texts plain files.date: -u -R -I[=T] -d=T -r=D --utc --universal --date=T --rfc-email --rfc-3339=T
    --iso-8601[=T] --reference=D --resolution --debug
uname none: -a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version
    --machine --processor --hardware-platform --operating-system
arch none:
nproc none: --all --ignore=N
free none: -b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide --si
uptime none: -p -s --pretty --since
hostname none: -s --short
id texts plain: -a -g -G -n -r -u -z -Z --group --groups --name --real --user --zero
groups texts plain:
whoami none:
logname none:
users none:
who none: -a -b -d -H -l -m -q -r -s -t -T -u -w --all --boot --count --heading --short
w none: -h -u -s -f -o -i
tty none: -s --silent --quiet
locale texts plain: -a -m -k -c --all-locales --charmaps
lscpu none: -a -b -c -e[=T] -J -p[=T] -x -y --all --json --extended[=T] --parse[=T]
getconf texts plain: -a
pgrep texts plain: -a -c -d=T -f -i -l -n -o -P=T -u=T -U=T -x -v --list-name --list-full --full --exact
    --newest --oldest --count
cal texts plain: -1 -3 -j -m -s -w -y -n=N
dpkg texts plain: -l -L -s -S --list --listfiles --status --search
vmstat texts plain most=2: -a -s -d -w -m
lsmod none:
bc none: -l -q -s -w --mathlib --quiet --standard --warn
lsb_release none: -a -i -d -r -c -s --all --short
sw_vers none: -productName -productVersion -buildVersion
# Programs in a language of their own.
awk,gawk,mawk,nawk texts ordered -V awk.program: -F=T -v=T
jq texts -V jq_yq.jq: -r -c -s -n -S -e -M -C -a -j -R -h --raw-output --raw-output0 --compact-output
    --slurp --null-input --sort-keys --exit-status --monochrome-output --color-output --ascii-output
    --join-output --raw-input --tab --indent=N --unbuffered --stream --stream-errors --seq --arg=W
    --argjson=W --rawfile=V --slurpfile=V -V --version --help
yq texts -V jq_yq.yq: -r -P -C -M -N -e --raw-output --prettyPrint --colors --no-colors --no-doc
    --exit-status
"""


def rows() -> dict[str, str]:
    """Return the row of each program, without its names."""
    found = {}
    for row in TABLE.replace("\n    ", " ").splitlines():
        names, _, rest = row.partition(" ")
        if names != "#":
            found.update(dict.fromkeys(names.split(","), rest))
    return found
