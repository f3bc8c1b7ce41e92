import { newEntry } from '../overlays/entry.ts'
import { newMenu } from '../overlays/menu.ts'
import { newPicker } from '../overlays/picker.ts'
import type { Entry, MenuItem, MenuOverlay, Overlay, Picker } from '../overlays/types.ts'
import type { ProviderOption } from '../ports.ts'

/** The provider that a step of the dialog is about. */
export interface ConnectSubject {
  id: string
  /** The address that the user typed; empty for the usual one. */
  baseUrl: string
}

/** Parses the subject that an overlay of the dialog returns with its choice. */
export function parseSubject(text: string): ConnectSubject {
  const [id = '', baseUrl = ''] = text.split('\n')
  return { id, baseUrl }
}

function toSubject({ id, baseUrl }: ConnectSubject): string {
  return `${id}\n${baseUrl}`
}

/**
 * Builds the first menu: the connected providers, whose keys can be replaced, the most common ones, those that are ready
 * on this machine, and an entry for all others.
 */
export function mainMenu(
  options: readonly ProviderOption[],
  more: Pick<MenuOverlay, 'title'> & Partial<Pick<MenuOverlay, 'yieldsToText'>>,
): MenuOverlay {
  const first = options.filter(isFirst)
  const others = options.filter((option) => !first.includes(option)).map(({ title }) => title)
  const items: MenuItem[] = [
    ...first.map(toItem),
    { value: 'another', label: 'Another', detail: others.join(', ') },
    { value: 'demo', label: 'Try the demo', detail: 'offline, scripted' },
  ]
  return newMenu({ picker: 'connect', items, ...more })
}

/** Builds the menu of all other providers. */
export function otherMenu(options: readonly ProviderOption[], back: Overlay | undefined): MenuOverlay {
  const items = options.filter((option) => !isFirst(option)).map(toItem)
  return newMenu({ picker: 'connect', title: 'Connect another provider', items, back })
}

function isFirst({ id, keyVariable, models, savedAddress }: ProviderOption): boolean {
  return savedAddress !== undefined || MAIN.includes(id) || keyVariable !== undefined || models.length > 0
}

const MAIN: readonly string[] = ['anthropic', 'openai', 'gemini']

function toItem(option: ProviderOption): MenuItem {
  const { id, title, savedAddress, keyPlace = '' } = option
  if (savedAddress !== undefined)
    return {
      value: id,
      label: `${title}: replace the key`,
      detail: [keyPlace, savedAddress].filter(Boolean).join(' · '),
    }
  return { value: id, label: title, detail: describeOption(option) }
}

function describeOption({ models, keyVariable, key, asksAddress }: ProviderOption): string {
  if (models.length > 0) return `found on this machine: ${models.slice(0, 3).join(', ')}`
  if (keyVariable !== undefined) return `${keyVariable} is set`
  if (!asksAddress)
    return key === 'optional' ? 'paste a key, or use the credentials of this machine' : 'paste a key'
  return key === 'optional' ? 'an address, and a key if it needs one' : 'an address and a key'
}

/** Asks for the address of a provider; `problem` says what was wrong with the last one, which is `text`. */
export function addressEntry(
  { id, title }: ProviderOption,
  { back, text = '', problem = '' }: { back?: Overlay | undefined; text?: string; problem?: string } = {},
): Entry {
  const example = id === 'azure' ? 'https://RESOURCE.openai.azure.com' : 'http://localhost:4000/v1'
  return newEntry({
    picker: 'connect-address',
    subject: toSubject({ id, baseUrl: '' }),
    title: `Address of ${title}`,
    text,
    problem,
    help: `For example ${example}`,
    back,
  })
}

/** Asks for the key of a provider. */
export function keyEntry(
  { title, key, keyVariable, keyPage, keyPlace }: ProviderOption,
  { subject, back }: { subject: ConnectSubject; back?: Overlay | undefined },
): Entry {
  const isOptional = keyVariable === undefined && key === 'optional'
  const help = [
    'It is shown as dots, and stored in the vault.',
    ...(keyPlace === undefined ? [] : [`Enter alone keeps the one that is ${keyPlace}.`]),
    ...(keyVariable === undefined ? [] : [`Enter alone uses ${keyVariable}.`]),
    ...(isOptional ? ['Enter alone means no key.'] : []),
    ...(keyPage === undefined ? [] : [`Create one: ${keyPage}`]),
  ]
  return newEntry({
    picker: 'connect-key',
    subject: toSubject(subject),
    title: `Key for ${title}`,
    isSecret: true,
    allowsEmpty: keyVariable !== undefined || keyPlace !== undefined || isOptional,
    help: help.join('\n'),
    back,
  })
}

/** Shows that a provider is being tried; Esc closes it. */
export function busyMenu(title: string): MenuOverlay {
  return { ...newMenu({ picker: 'connect', title: `Trying ${title}…`, items: [] }), isBusy: true }
}

/** Offers what can be done after a failure. */
export function failedMenu(
  { message, hint }: { message: string; hint: string | undefined },
  { option, subject, isRefused }: { option: ProviderOption; subject: ConnectSubject; isRefused: boolean },
): MenuOverlay {
  const items: MenuItem[] = [
    ...(option.key === 'none' ? [] : [{ value: 'key', label: 'Type the key again', detail: '' }]),
    option.key === 'none'
      ? { value: 'again', label: 'Try again', detail: '' }
      : { value: 'again', label: 'Try again with the same key', detail: '' },
    ...(option.asksAddress ? [{ value: 'address', label: 'Type the address again', detail: '' }] : []),
    { value: 'save', label: 'Save anyway', detail: 'without a check' },
  ]
  const usual = items.findIndex(({ value }) => value === (isRefused ? 'key' : 'again'))
  const selected = Math.max(0, usual)
  const note = hint === undefined ? message : `${message}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`
  return newMenu({
    picker: 'connect-failed',
    subject: toSubject(subject),
    title: 'Not connected',
    note,
    items,
    selected,
  })
}

/** Lists the models of a provider, with the usual one selected. */
export function modelPicker(
  { title }: ProviderOption,
  { names, usual, subject }: { names: readonly string[]; usual: string | undefined; subject: ConnectSubject },
): Picker {
  const items = names.map((name) => ({ value: name, label: name, detail: name === usual ? 'suggested' : '' }))
  const picker = newPicker({
    picker: 'connect-model',
    subject: toSubject(subject),
    title: `Model of ${title}`,
    items,
  })
  return { ...picker, selected: usual === undefined ? 0 : Math.max(0, names.indexOf(usual)) }
}

/** Asks for a model of a provider that does not list any. */
export function modelEntry(
  { title }: ProviderOption,
  {
    usual = '',
    subject,
    isChecked,
  }: { usual?: string | undefined; subject: ConnectSubject; isChecked: boolean },
): Entry {
  return newEntry({
    picker: isChecked ? 'connect-unlisted-model' : 'connect-unchecked-model',
    subject: toSubject(subject),
    title: `Model of ${title}`,
    text: usual,
    help: isChecked
      ? 'The provider does not list its models. The model is called once before it is saved.'
      : '',
  })
}
