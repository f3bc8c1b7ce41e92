/** Whether an agent's model sees a tool; `hidden` says why it does not. */
export function isVisibleTool({ hidden }: { hidden: string }): boolean {
  return hidden === ''
}
