import { CurrentActor, type Scope } from "#src/accounts/CurrentActor.ts"
import { mayDo, seesProject } from "#src/accounts/Policy.ts"
import { Effect, Option } from "effect"
import { nameUnknown, repositoryOf } from "./names.ts"
import { refused } from "./Refusal.ts"
import { UploadsRepo } from "./UploadsRepo.ts"

/** A repository that the caller may use. */
export interface Place {
  readonly projectId: string
  readonly name: string
}

/** What a request does there. Whoever pushes looks first at what is there already. */
export type Doing = "looks" | "pulls" | "pushes"

const scopesOf: Readonly<Record<Doing, ReadonlyArray<Scope>>> = {
  looks: ["deployments:read", "deployments:write"],
  pulls: ["deployments:read"],
  pushes: ["deployments:write"]
}

/** The repository of a name, for somebody who may do that. What belongs to others does not exist. */
export const makePlaces = Effect.map(
  UploadsRepo,
  (repo) =>
    Effect.fn("Uploads.place")(function*(name: string, doing: Doing) {
      const actor = yield* CurrentActor
      const repository = yield* repositoryOf(name)
      const project = yield* repo.projectOf(actor.accountId, repository.project)
      if (Option.isNone(project) || !seesProject(actor, project.value)) return yield* nameUnknown(repository.project)
      const scopes = scopesOf[doing]
      if (!mayDo(actor, scopes)) return yield* refused("DENIED", `This key lacks the scope ${scopes.join(" or ")}`)
      return { projectId: project.value, name: repository.name } satisfies Place
    })
)
