import { type Actor } from "#src/accounts/CurrentActor.ts"
import { type CompositeRow } from "./CompositesRepo.ts"

/** Whether an account may read a composite: a public one, or its own. */
export const isVisible = ({ accountId }: Pick<Actor, "accountId">, row: Pick<CompositeRow, "userId" | "visibility">) =>
  row.visibility === "public" || row.userId === accountId
