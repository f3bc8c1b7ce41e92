/** The keys of normal mode, for `/keys` and the documentation. */
export const VIM_KEYS: readonly (readonly [keys: string, summary: string])[] = [
  ['h j k l', 'left, down, up, right; j and k go through the history at the edges'],
  ['w b e W B E', 'by words'],
  ['0 ^ $', 'start, first character, and end of the line'],
  ['gg G 3G', 'first line, last line, a line by number'],
  ['f t F T ; ,', 'to a character in the line, and again'],
  ['i a I A o O', 'insert: here, after, at the start or end of the line, on a new line'],
  ['d c y', 'delete, change or yank what a motion or text object covers: dw, c2e, yiw, di"'],
  ['dd cc yy D C Y', 'the same for lines, or to the end of the line'],
  ['x X s S r ~ J', 'delete, substitute or replace characters; change case; join lines'],
  ['p P', 'put what was deleted or yanked after or before the caret'],
  ['u Ctrl+R .', 'undo, redo, repeat the last change'],
  ['/', 'search sent messages and conversations'],
  ['Esc', 'drop an incomplete command; otherwise as in the key table'],
]
