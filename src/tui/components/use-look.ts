import { useEffect, useState } from 'react'
import { type Look, loadColours, loadParser, warmParser } from '../view/look.ts'

/**
 * The look, plain at first: what makes it rich is loaded behind the first frame, and colours for code when there is
 * some. It is settled when it will not get richer for what there is to show.
 */
export function useLook(color: boolean, hasCode: boolean): { look: Look; isSettled: boolean } {
  const [look, setLook] = useState<Look>({ color })
  const [failed, setFailed] = useState({ parse: false, highlight: false })
  const wantsColours = color && hasCode
  useEffect(() => {
    loadParser()
      .then((parse) => setLook((before) => ({ ...before, parse })))
      .then(warmParser)
      .catch(() => setFailed((before) => ({ ...before, parse: true }))) // plain text is readable, too
  }, [])
  useEffect(() => {
    if (!wantsColours) return
    loadColours()
      .then((highlight) => setLook((before) => ({ ...before, highlight })))
      .catch(() => setFailed((before) => ({ ...before, highlight: true })))
  }, [wantsColours])
  const hasParser = failed.parse || look.parse !== undefined
  const hasColours = !wantsColours || failed.highlight || look.highlight !== undefined
  return { look, isSettled: hasParser && hasColours }
}
