# Working on the core: PostgreSQL's source as a git repository with our part as commits, and back.
#
#   upstream ── overlay (whole files of ours) ── one commit per patch, in the series' order
#
# On the way back a file that upstream lacks belongs to the overlay, whichever commit made it; an edit
# of one of upstream's files belongs to its commit's patch, named after the topic in the subject.

UPSTREAM_REF=refs/plimsoll/upstream

# tree_git ARGS... is git in the tree, unaffected by the user's settings. It packs nothing in the background, where the
# tree may be moved or removed meanwhile.
tree_git() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git -C "$TREE" -c core.autocrlf=false -c gc.auto=0 \
		-c user.name=Plimsoll -c user.email=plimsoll@localhost -c commit.gpgSign=false "$@"
}

set_tree() {
	command -v git >/dev/null || fail environment "git is not installed" "setup/install engine"
	((${#ARGUMENTS[@]} <= 1)) || misused "$COMMAND takes one folder"
	TREE=$(realpath -m -- "${ARGUMENTS[0]:-$ENGINE/tree}")
}

command_tree() {
	set_tree
	make_dirs
	require_source
	if [[ -e $TREE && -n $(ls -A "$TREE") ]]; then
		require_tree
		require_saved
	else
		lay_upstream
	fi
	lay_ours
	say "tree: $TREE, $(tree_git rev-list --count "$UPSTREAM_REF..HEAD") commits on PostgreSQL $SOURCE_VERSION"
	say "edit, commit (one topic a commit), then engine/build patches"
}

lay_upstream() {
	unpack_source "$TREE"
	tree_git init -q -b plimsoll
	tree_git add -Af .
	commit_fixed "PostgreSQL $SOURCE_VERSION"
	tree_git update-ref "$UPSTREAM_REF" HEAD
}

# lay_ours puts the overlay and the series on upstream's commit.
lay_ours() {
	local patch
	tree_git reset -q --hard "$UPSTREAM_REF"
	cp -R "$OVERLAY/." "$TREE/"
	tree_git add -Af .
	commit_fixed "overlay: new files of the core"
	for patch in $(series); do
		tree_git am -q -k --keep-cr --whitespace=nowarn "$PATCHES/$patch" || {
			tree_git am --abort
			fail failure "$patch does not apply to PostgreSQL $SOURCE_VERSION" \
				"the patches before it are commits in $TREE: git am -3 $PATCHES/$patch"
		}
	done
	mark_saved
}

# commit_fixed SUBJECT makes the same commit wherever and whenever it is made.
commit_fixed() {
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
		tree_git commit -q --allow-empty -m "$1"
}

mark_saved() { tree_git update-ref refs/plimsoll/saved HEAD; }

# require_saved refuses to overwrite a tree that has not been written back.
require_saved() {
	require_committed
	[[ $(tree_git rev-parse HEAD) == "$(tree_git rev-parse -q --verify refs/plimsoll/saved)" ]] ||
		fail failure "$TREE has commits that are not in engine/patches" \
			"engine/build patches writes them back; rm -r $TREE drops them"
	[[ $(tree_git log -1 --format=%s "$UPSTREAM_REF") == "PostgreSQL $SOURCE_VERSION" ]] ||
		fail failure "$TREE holds a different source than PostgreSQL $SOURCE_VERSION" \
			"rm -r $TREE, then engine/build tree"
}

require_tree() {
	[[ -e $TREE/.git ]] && tree_git rev-parse -q --verify "$UPSTREAM_REF" >/dev/null ||
		fail usage "$TREE is not a tree made by engine/build" "'engine/build tree' creates one"
}

require_committed() {
	[[ ! -d $TREE/.git/rebase-merge && ! -d $TREE/.git/rebase-apply ]] ||
		fail failure "a rebase is under way in $TREE" "finish it: git rebase --continue"
	[[ -z $(tree_git status --porcelain -uno) ]] ||
		fail failure "$TREE has uncommitted changes" \
			"git commit --fixup=COMMIT && git rebase -i --autosquash $UPSTREAM_REF"
	[[ -z $(tree_git rev-list --merges "$UPSTREAM_REF..HEAD") ]] ||
		fail failure "$TREE has merge commits; a series must be linear" "git rebase $UPSTREAM_REF"
}

command_patches() {
	local out untracked
	set_tree
	require_tree
	require_committed
	untracked=$(tree_git ls-files --others --exclude-standard | paste -sd ' ')
	[[ -z $untracked ]] || say "not written back, since they are not in git: $untracked"
	out=$(mktemp -d "$ENGINE/.patches.XXXXXX")
	TEMPORARY+=("$out")
	write_overlay "$out/overlay"
	write_series "$out/patches"
	restore_patches "$out"
	mark_saved
	check_notes
}

# changed FILTER prints upstream's files that we edited (a) or files that we added (A).
changed() { tree_git diff -z --no-renames --name-only --diff-filter="$1" "$UPSTREAM_REF" HEAD; }

write_overlay() {
	mkdir -p "$1"
	changed A | tree_git checkout-index -f -z --stdin --prefix="$1/"
}

write_series() {
	local commit name edited
	mkdir -p "$1"
	: >"$1/series"
	mapfile -d '' edited < <(changed a)
	((${#edited[@]})) || return 0
	for commit in $(tree_git rev-list --reverse "$UPSTREAM_REF..HEAD" -- "${edited[@]}"); do
		name=$(topic_of "$commit").patch
		[[ ! -e $1/$name ]] || fail failure "two commits have the topic ${name%.patch}" \
			"squash them (git rebase -i $UPSTREAM_REF) or rename one"
		write_patch "$commit" "${edited[@]}" >"$1/$name"
		echo "$name" >>"$1/series"
	done
}

topic_of() {
	local subject
	subject=$(tree_git log -1 --format=%s "$1")
	[[ $subject =~ ^([a-z0-9][a-z0-9-]*):\  && ${BASH_REMATCH[1]} != overlay ]] ||
		fail failure "a commit that edits PostgreSQL's files has no topic: $subject" \
			"name it like 'patchset: report the patchset'; the patch becomes patchset.patch"
	echo "${BASH_REMATCH[1]}"
}

# write_patch COMMIT FILE... leaves out what differs between two machines or two minors: ids of blobs and of the commit.
write_patch() {
	local commit=$1
	shift
	tree_git format-patch -1 -k --stdout --zero-commit --no-signature --no-stat --no-renames --binary --no-ext-diff \
		--diff-algorithm=myers -U3 "$commit" -- "$@" | sed -E '/^index [0-9a-f]+\.\.[0-9a-f]+( [0-7]+)?$/d'
}

# restore_patches DIR replaces engine/overlay and the patches by the content of DIR.
restore_patches() {
	rm -f "$PATCHES"/*.patch
	cp "$1"/patches/* "$PATCHES/"
	rm -rf "$OVERLAY"
	mv "$1/overlay" "$OVERLAY"
	say "$(wc -l <"$PATCHES/series") patches, $(find "$OVERLAY" -type f | wc -l) files of the overlay written back"
}

# check_notes: every patch has its note and every note its patch.
check_notes() {
	local file
	for file in "$PATCHES"/*.patch; do
		[[ ! -e $file || -e ${file%.patch}.md ]] || say "to do: ${file%.patch}.md, the note of a new patch"
	done
	for file in "$PATCHES"/*.md; do
		[[ ! -e $file || -e ${file%.md}.patch ]] || say "to do: $file no longer has a patch"
	done
}
