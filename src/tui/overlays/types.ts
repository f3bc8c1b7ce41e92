/** What stands over the prompt and has the keys: a list to choose from, or a page to read. Replaced, never changed. */
export type Overlay = Picker

/** A list to choose from, narrowed by what is typed. */
export interface Picker {
  kind: 'picker'
  /** Says what was chosen: comes back in the effect `chosen`. */
  picker: string
  title: string
  items: readonly PickerItem[]
  filter: string
  selected: number
}

export interface PickerItem {
  value: string
  label: string
  /** Beside the label, dim. */
  detail: string
}
