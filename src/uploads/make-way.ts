import { Effect } from "effect"
import { type Refusal } from "./Refusal.ts"
import { type Turns } from "./turns.ts"
import { UploadFiles } from "./UploadFiles.ts"
import { type Unfinished, UploadsRepo } from "./UploadsRepo.ts"

/**
 * What cut-off pushes left takes bytes of the plan, room on the disk and places of a project. When those run short, an
 * account's idle uploads go, the oldest first and no more than are needed (docs/decisions/uploads.md).
 */
export const makeWay = (turns: Turns) =>
  Effect.gen(function*() {
    const repo = yield* UploadsRepo
    const files = yield* UploadFiles

    const drop = (id: string) => Effect.zipRight(repo.end(id), Effect.promise(() => files.remove(id)))

    const idleOf = (accountId: string) =>
      Effect.map(repo.idleOf(accountId), (idle) => idle.filter(({ id }) => !turns.isTaken(id)))

    /** Does the work; where it lacks room it is done again after each upload that has gone. */
    const orWithout = (
      accountId: string,
      isShort: (refusal: Refusal) => boolean,
      mayGo: (upload: Unfinished) => boolean = () => true
    ) =>
    <A, R>(work: Effect.Effect<A, Refusal, R>) =>
      Effect.catchIf(work, isShort, (refusal) =>
        Effect.gen(function*() {
          for (const { id } of (yield* idleOf(accountId)).filter(mayGo)) {
            yield* drop(id)
            const again = yield* Effect.either(work)
            if (again._tag === "Right") return again.right
            if (!isShort(again.left)) return yield* again.left
          }
          return yield* refusal
        }))

    return {
      drop,
      orWithout,
      /** All of them, where nobody can tell how much is needed. */
      all: (accountId: string) => Effect.flatMap(idleOf(accountId), Effect.forEach(({ id }) => drop(id)))
    } as const
  })
export type Way = Effect.Effect.Success<ReturnType<typeof makeWay>>
