import { Layer } from "effect"
import { Manifests } from "./Manifests.ts"
import { ManifestsRepo } from "./ManifestsRepo.ts"
import { PushedImages } from "./PushedImages.ts"
import { UploadedImages } from "./UploadedImages.ts"
import { UploadFiles } from "./UploadFiles.ts"
import { UploadQuota } from "./UploadQuota.ts"
import { Uploads } from "./Uploads.ts"
import { UploadsRepo } from "./UploadsRepo.ts"

/** Images that are pushed to `/v2`. */
export const UploadsLive = PushedImages.Default.pipe(
  Layer.provideMerge(UploadedImages.Default),
  Layer.provideMerge(Layer.merge(Uploads.Default, Manifests.Default)),
  Layer.provideMerge(UploadQuota.Default),
  Layer.provideMerge(UploadFiles.Default),
  Layer.provideMerge(Layer.merge(ManifestsRepo.Default, UploadsRepo.Default))
)
