import { Either } from "effect"
import { type Draft } from "./Draft.ts"
import { type RawItem } from "./plan.ts"
import { mostCents } from "./price.ts"
import { type Parent } from "./variants.ts"

type Price = RawItem["price"]

/** An amount and nothing else, in cents; undefined for a phrase, a rounded one, another currency. */
const plainOf = (price: Price) => {
  const written = price === null ? undefined : Either.getOrUndefined(price)
  return written === undefined || written.remark !== undefined ? undefined : written.cents ?? undefined
}

/** The prices of variations that have a surcharge on the price of their item, and what becomes of that price. */
export class Surcharges {
  readonly #draft: Draft
  readonly #prices = new Map<number, number>()
  readonly #children = new Map<number, Array<number>>()

  constructor(draft: Draft) {
    this.#draft = draft
  }

  /** The price of a row; null where the sum is not certain. `surcharge` is null in an empty cell. */
  priceOf(price: Price, surcharge: Price, parent: Parent | undefined): Price {
    const extra = plainOf(surcharge)
    if (parent === undefined) return surcharge === null || extra === 0 ? price : null
    const base = this.#prices.get(parent.at ?? -1)
    const cents = (base ?? Number.NaN) + (extra ?? Number.NaN)
    return (price === null || plainOf(price) === base) && cents <= mostCents ? Either.right({ cents }) : null
  }

  /** Remembers the item of a row, and to which it belongs. */
  see(at: number, price: Price, parent: Parent | undefined) {
    const cents = plainOf(price)
    if (parent?.at !== undefined) this.#children.set(parent.at, [...this.#children.get(parent.at) ?? [], at])
    else if (cents !== undefined && this.#draft.items[at]?.priceType === "fixed") this.#prices.set(at, cents)
  }

  /** Nobody pays an item's price where each of its variations costs more: it starts at the lowest, if all are known. */
  finish() {
    for (const [parent, children] of this.#children) {
      const shown = children.flatMap((at) => this.#draft.items[at] ?? []).filter(({ isAvailable = true }) =>
        isAvailable
      )
      const prices = shown.flatMap(({ priceCents }) => priceCents ?? [])
      if (prices.length < shown.length) this.#draft.change(parent, { priceCents: null })
      else if (prices.length > 0) {
        const isRange = new Set(prices).size > 1
        this.#draft.change(parent, {
          priceCents: Math.min(...prices),
          ...(isRange ? { priceType: "starting_at" } : {})
        })
      }
    }
  }
}
