import { makeKeymap } from '../../core/keys/bindings.ts'
import { showChord } from '../../core/keys/keymap.ts'
import { newPicker } from '../overlays/picker.ts'
import type { PickerItem } from '../overlays/types.ts'
import { VIM_KEYS } from '../text/vim/key-table.ts'
import { hint, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/keys`: shows the active key bindings, with a search. */
export function showKeys(args: string, context: SlashContext): void {
  const { keymap: preset, keys } = context.state().settings
  const { bindings } = makeKeymap({ keymap: preset, keys })
  const items = bindings.map(({ name, keys: chords, summary }): PickerItem => {
    const label = chords.length === 0 ? '(none)' : chords.map(showChord).join(', ')
    return { value: name, label, detail: `${summary} · ${name}${keys[name] ? ' *' : ''}` }
  })
  const vim = VIM_KEYS.map(
    ([label, detail]): PickerItem => ({ value: '', label, detail: `normal mode: ${detail}` }),
  )
  const all = preset === 'vim' ? [...items, ...vim] : items
  showOverlay(context, newPicker({ picker: 'keys', title: `Keys (${preset})`, items: all }, args))
}

/** Says how to change the keys of an action. */
export function onKeyChosen(name: string, context: SlashContext): void {
  if (name !== '')
    hint(context, `/config keys.${name} alt+x alt+y sets its keys; /config keys.${name} default resets them`)
}
