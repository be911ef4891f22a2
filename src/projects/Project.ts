import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, Name, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

export const ProjectId = Id("ProjectId", "Project id, prj_ and a ULID")
export type ProjectId = typeof ProjectId.Type

/** Contract: Platform resources, a project. */
export const Project = Schema.Struct({
  id: ProjectId,
  name: Schema.String,
  slug: Schema.String.annotations({ description: "Made from the name; unique in the account" }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "Project" })

/** A row of projects: with the account, which is never shown. */
export const ProjectRow = Schema.Struct({
  ...Project.fields,
  accountId: Schema.String,
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})

export const ProjectInput = Input({ name: Name })

export class ProjectNotFound extends Schema.TaggedError<ProjectNotFound>()("ProjectNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such project"
  }
}
