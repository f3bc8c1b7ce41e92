import { useEffect, useState } from 'react'
import { type Look, loadLook } from '../view/look.ts'

/** The look, plain at first: what makes it rich is loaded behind the first frame. */
export function useLook(color: boolean): Look {
  const [look, setLook] = useState<Look>({ color })
  useEffect(() => {
    void enrich(color, (more) => setLook((before) => ({ ...before, ...more })))
  }, [color])
  return look
}

async function enrich(color: boolean, add: (more: Partial<Look>) => void): Promise<void> {
  for await (const more of loadLook(color)) add(more)
}
