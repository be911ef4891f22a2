import { digestPattern, isComponent } from "#src/images/reference.ts"
import { Effect } from "effect"
import { refused } from "./Refusal.ts"

/** A repository as `/v2` names it: the project, and what it is called there. */
export interface Repository {
  readonly project: string
  readonly name: string
}

/** Distribution specification, "Pulling manifests": the most that clients take of a name with its host. */
const longest = 255

/** The repository of a name; the first component is a project's slug, or its id in lower case. */
export const repositoryOf = (name: string): Effect.Effect<Repository, ReturnType<typeof refused>> => {
  const [project = "", ...rest] = name.split("/")
  if (name.length > longest || ![project, ...rest].every(isComponent)) {
    return refused(
      "NAME_INVALID",
      "A repository's name is made of lower-case letters, digits, and single . _ - between them, parted by /"
    )
  }
  return rest.length === 0
    ? refused("NAME_INVALID", "A repository is named PROJECT/NAME: the project's slug, and a name of your own")
    : Effect.succeed({ project, name: rest.join("/") })
}

export const checkDigest = (digest: string) =>
  digestPattern.test(digest)
    ? Effect.void
    : refused("DIGEST_INVALID", "A digest is sha256: and 64 hex digits in lower case")

/** For what is not there, and for what belongs to others. */
export const nameUnknown = (project: string) =>
  refused("NAME_UNKNOWN", `There is no project ${project} that this credential may see`)

/** The project is there, and is the caller's. */
export const repositoryUnknown = (name: string) =>
  refused("NAME_UNKNOWN", `The project has no repository ${name}: push an image to it first`)
