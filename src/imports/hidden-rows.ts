import { excerpt } from "./cleaning.ts"
import { withoutShop } from "./price-columns.ts"

const no = /^(?:0|false|falsch|no|n|nein|non|нет|faux|falso)$/i
const yes = /^(?:1|true|wahr|yes|y|ja|oui|sí|si|да|vrai|vero)$/i

/** Values by which programs mark what their customers don't see or can't have, by the column's name. */
const marks: ReadonlyArray<readonly [columns: ReadonlyArray<string>, hides: RegExp]> = [
  [["status"], /^(?:draft|archived|inactive|disabled|deleted|hidden|unpublished)$/i],
  // WooCommerce: 0 is private, -1 a draft.
  [
    ["published", "veröffentlicht", "publicado", "publié", "pubblicato", "gepubliceerd", "опубликован"],
    new RegExp(`^-1$|${no.source}`, "i")
  ],
  [["archived", "hidden", "draft", "disabled", "unpublished"], yes],
  [
    ["visible", "product visible", "active", "active 0 1", "enabled", "aktiv", "activo", "actif", "attivo", "actief"],
    no
  ],
  [["available", "available for sale", "disponibles para la venta"], no],
  [["visibility", "visibility in catalog"], /^(?:none|hidden|private|not visible individually)$/i]
]

export interface Marking {
  readonly at: number
  readonly name: string
  readonly hides: RegExp
}

/** The columns, or keys of a JSON item, that may say that an item is a draft or hidden. */
export const markingsOf = (names: ReadonlyArray<string>): ReadonlyArray<Marking> =>
  names.slice(0, 1000).flatMap((name, at) => {
    const plain = withoutShop(name).replace(/^is /, "")
    const hides = marks.find(([columns]) => columns.includes(plain))?.[1]
    return hides === undefined ? [] : [{ at, name: excerpt(name), hides }]
  })

const textOf = (value: unknown) =>
  typeof value === "boolean" || typeof value === "number"
    ? String(value)
    : typeof value === "string"
    ? value.trim()
    : ""

/** What a row, or the values of a JSON item, say of the item: `Status "draft"`. */
export const markingIn = (values: ReadonlyArray<unknown>, markings: ReadonlyArray<Marking>) => {
  const marking = markings.find(({ at, hides }) => hides.test(textOf(values[at])))
  return marking === undefined ? undefined : `${marking.name} "${textOf(values[marking.at])}"`
}
