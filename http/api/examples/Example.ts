/** What an operation takes and answers, as the document shows it. */
export interface Example {
  /** Its body; of an upload the form's fields. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Parameters of its query, of an operation that is of no use without them. */
  readonly query?: Readonly<Record<string, string>>
  /** Its success; text where that is no JSON, nothing where it has no body. */
  readonly answer?: unknown
  /** Successes with another status, where they look different. */
  readonly others?: Readonly<Record<number, unknown>>
}

/** By the operation's name in the document. */
export type Examples = Readonly<Record<string, Example>>
