import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { digestPattern } from "#src/images/reference.ts"
import { Projects } from "#src/projects/Projects.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { Effect } from "effect"
import { Manifests } from "./Manifests.ts"
import { ManifestsRepo } from "./ManifestsRepo.ts"
import { PushedImageNamed, PushedImageNotFound } from "./PushedImage.ts"
import { UploadedImages } from "./UploadedImages.ts"

/** What a project's owner is shown of the images that were pushed to it. */
export class PushedImages extends Effect.Service<PushedImages>()("uploads/PushedImages", {
  effect: Effect.gen(function*() {
    const repo = yield* ManifestsRepo
    const manifests = yield* Manifests
    const projects = yield* Projects
    const { host } = yield* UploadedImages

    const list = Effect.fn("PushedImages.list")(function*(projectId: string, request: PageRequest) {
      const { id, slug } = yield* projects.visible(projectId)
      const uri = (row: { readonly repository: string; readonly digest: string }) =>
        `${host}/${slug}/${row.repository}@${row.digest}`
      return yield* paginate({
        list: `images ${id}`,
        request,
        isKey: (text) => digestPattern.test(text.slice(text.indexOf("@") + 1)),
        read: (after, count) =>
          Effect.map(repo.page(id, after, count), (rows) => rows.map((row) => ({ ...row, imageUri: uri(row) }))),
        keyOf: ({ digest, repository }) => `${repository}@${digest}`,
        total: () => repo.total(id)
      })
    }, withPolicy(anyScope("deployments:read")))

    /** From every repository of the project. What was deployed of it stays as long as a version needs it. */
    const remove = Effect.fn("PushedImages.remove")(function*(projectId: string, digest: string) {
      const { id } = yield* projects.visible(projectId)
      const { accountId } = yield* CurrentActor
      const names = digestPattern.test(digest) ? yield* repo.repositoriesOf(id, digest) : []
      if (names.length === 0) return yield* new PushedImageNotFound()
      for (const name of names) {
        const [index] = yield* repo.namedBy({ projectId: id, name }, digest)
        if (index !== undefined) return yield* new PushedImageNamed({ index })
      }
      yield* Effect.forEach(names, (name) => manifests.discard(accountId, { projectId: id, name }, digest), {
        discard: true
      })
    }, withPolicy(anyScope("deployments:write")))

    return { list, remove } as const
  })
}) {}
