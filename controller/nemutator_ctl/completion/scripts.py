"""The few lines by which each shell asks `nemutator __complete` what may come next."""

FILES = ":files"
"""In place of candidates: the names of files."""

ASK = "__complete"

_BASH = """\
# bash completion of nemutator: source <(nemutator completion bash)
_nemutator() {
    local line words cur
    read -ra words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ "${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=("")
    # `kubectl nemutator` has a word more in front.
    [[ "${words[0]}" == *kubectl ]] && words=("${words[@]:1}")
    cur="${words[-1]}"
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ "$line" == :files ]]; then
            compopt -o default
            return
        fi
        line="${line%%$'\\t'*}"
        # bash replaces only what stands behind the `=`.
        [[ "$cur" == *=* ]] && line="${line#*=}"
        COMPREPLY+=("$line")
    done < <(nemutator __complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _nemutator nemutator kubectl-nemutator
"""

_ZSH = """\
#compdef nemutator kubectl-nemutator
# zsh completion of nemutator: source <(nemutator completion zsh)
_nemutator() {
    local line
    local -a found
    for line in "${(@f)$(nemutator __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ "$line" == ":files" ]]; then
            _files
            return
        fi
        [[ -n "$line" ]] && found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
    done
    _describe nemutator found
}
compdef _nemutator nemutator kubectl-nemutator
"""

_FISH = """\
# fish completion of nemutator: nemutator completion fish | source
function __nemutator_complete
    set --local words (commandline --current-process --tokenize --cut-at-cursor)
    set --local current (commandline --current-token --cut-at-cursor)
    set --local found (nemutator __complete -- $words[2..] $current 2>/dev/null)
    if test "$found[1]" = ":files"
        __fish_complete_path $current
    else
        printf '%s\\n' $found
    end
end
complete --command nemutator --no-files --arguments '(__nemutator_complete)'
complete --command kubectl-nemutator --no-files --arguments '(__nemutator_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
