import { type Side } from "./sides.ts"

/** A request, sent to both servers. */
export interface Row {
  readonly name: string
  /** What both say, or we when they differ. */
  readonly ours: string
  readonly ask: (side: Side) => Promise<string>
  readonly differs?: {
    readonly theirs: string
    /** What justifies ours: an RFC's section, or a line of the checklist in brackets. */
    readonly because: string
  }
}

export const same = (name: string, verdict: string, ask: Row["ask"]): Row => ({ name, ours: verdict, ask })

export const differ = (name: string, ours: string, theirs: string, because: string, ask: Row["ask"]): Row => ({
  name,
  ours,
  ask,
  differs: { theirs, because }
})
