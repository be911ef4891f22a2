import { excerpt } from "./cleaning.ts"
import { withoutShop } from "./price-columns.ts"

const no = /^(?:0|false|falsch|no|n|off|nein|non|нет|faux|falso|não|nao|nee|nej|nei|nie|ne|hayır)$/i
const yes = /^(?:1|true|wahr|yes|y|on|ja|oui|sí|si|да|vrai|vero|verdadero|sim|tak|ano|evet)$/i

const hidden = new RegExp(
  `^(?:${
    [
      ...["draft", "archived", "inactive", "disabled", "deleted", "hidden", "unpublished", "discontinued"],
      ...["entwurf", "inaktiv", "archiviert", "versteckt", "ausgeblendet", "deaktiviert", "auslaufartikel"],
      ...["borrador", "inactivo", "archivado", "oculto", "desactivado", "descatalogado"],
      ...["brouillon", "inactif", "archivé", "masqué", "caché", "désactivé"],
      ...["bozza", "inattivo", "archiviato", "nascosto", "disattivato", "rascunho", "inativo", "arquivado"],
      ...[
        "concept",
        "inactief",
        "verborgen",
        "utkast",
        "kladde",
        "inaktivt",
        "szkic",
        "nieaktywny",
        "koncept",
        "taslak"
      ],
      ...["черновик", "неактивен", "скрыт", "下書き", "非公開", "草稿", "隐藏", "임시저장"]
    ].join("|")
  })$`,
  "i"
)

/** Values by which programs mark what their customers don't see or can't have, by the column's name. */
const marks: ReadonlyArray<readonly [columns: ReadonlyArray<string>, hides: RegExp]> = [
  [
    [
      ...["status", "state", "product status", "item status", "availability", "estado", "statut", "état", "stato"],
      ...["статус", "stav", "durum"]
    ],
    hidden
  ],
  // WooCommerce: 0 is private, -1 a draft.
  [
    ["published", "veröffentlicht", "publicado", "publié", "pubblicato", "gepubliceerd", "опубликован"],
    new RegExp(`^-1$|${no.source}`, "i")
  ],
  [
    [
      ...["archived", "hidden", "draft", "disabled", "unpublished", "discontinued", "deleted", "inactive"],
      ...["archiviert", "versteckt", "entwurf", "deaktiviert", "archivado", "oculto", "borrador", "desactivado"],
      ...["archivé", "masqué", "brouillon", "désactivé", "archiviato", "nascosto", "bozza", "disattivato"]
    ],
    yes
  ],
  [
    [
      ...["visible", "product visible", "active", "active 0 1", "enabled", "online", "live", "listed", "displayed"],
      ...["show online", "show on web", "sell online", "aktiv", "sichtbar", "activo", "en línea", "actif", "en ligne"],
      ...["attivo", "visibile", "ativo", "visível", "actief", "zichtbaar", "synlig", "aktywny", "aktivní", "активен"]
    ],
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
