/** The terminal as renderers see it. */
export interface View {
  columns: number
  rows: number
  color: boolean
  /** Tool lines show what the tools gave. */
  details: boolean
}
