import { Schema } from "effect"

/** A search of the directory. Texts are as they were sent, and empty where nothing was. */
export interface Search {
  readonly words: string
  readonly category: string
  /** Template type or industry. */
  readonly kind: string
  /** Minimum verification tier, 0 to 3. */
  readonly verification: number
  readonly city: string
  /** Two small letters for a state of the United States. */
  readonly state: string
  /** The square of about 17 miles that the circle's centre is in; -1 without a circle. */
  readonly square: number
}

/** How often a search found nothing on a UTC day (`YYYY-MM-DD`). */
export interface SearchCount extends Search {
  readonly day: string
  readonly n: number
}

/** What a search must share with a business. `state` as in `Search`; `squares`: those that are near. */
export interface Surroundings {
  readonly city: string
  readonly state: string
  readonly squares: ReadonlyArray<number>
  readonly categories: ReadonlyArray<string>
  readonly kinds: ReadonlyArray<string>
}

/** What was asked for, and how often in vain. `isNear`: at the business's place, and not only of its kind. */
export const UnmetSearch = Schema.Struct({
  words: Schema.String,
  category: Schema.String,
  kind: Schema.String,
  verification: Schema.Int,
  city: Schema.String,
  state: Schema.String,
  isNear: Schema.Boolean,
  times: Schema.Int,
  lastDay: Schema.String
})
