import { createHash } from "node:crypto";
import { findGroup, findProject } from "./access.ts";
import { isUpload } from "./body.ts";
import { userBasic } from "./entities.ts";
import { badParams, notFound } from "./errors.ts";
import { required } from "./input.ts";
import { paged } from "./paging.ts";
import { binary, created, del, get, noContent, post } from "./reply.ts";
import { type Behaviour, type Reply, type Request, ROLE, type Upload, type World } from "./types.ts";

interface Stored {
  readonly id: number;
  readonly home: string;
  readonly secret: string;
  readonly file: Upload;
  readonly created_at: string;
  readonly user_id: number;
}

const uploadsOf = (world: World) => world.part<Stored[]>("uploads", () => []);

/** `project 101` or `group 10`. @throws 404, 403 */
function home(request: Request, role: number = ROLE.none): { key: string; path: string; web: string } {
  if (request.params.project_id === undefined) {
    const group = findGroup(request, role);
    return { key: `group ${group.id}`, path: `/-/group/${group.id}`, web: group.full_path };
  }
  const project = findProject(request, role);
  return { key: `project ${project.id}`, path: `/-/project/${project.id}`, web: project.path_with_namespace };
}

function one(request: Request, role: number = ROLE.none): Stored {
  const { key } = home(request, role);
  const { upload_id, secret, filename } = request.params;
  const found = uploadsOf(request.world).find(
    (row) =>
      row.home === key &&
      (upload_id === undefined ? row.secret === secret && row.file.filename === filename : String(row.id) === upload_id),
  );
  if (!found) throw notFound();
  return found;
}

function create(request: Request): Reply {
  const { key, path, web } = home(request, ROLE.guest);
  required(request, "file");
  const { file } = request.input;
  if (!isUpload(file)) throw badParams("file is invalid");
  const id = request.world.nextId("upload");
  const secret = createHash("md5").update(`upload ${id}`).digest("hex");
  uploadsOf(request.world).push({ id, home: key, secret, file, created_at: request.world.now(), user_id: request.user?.id ?? 0 });
  const url = `/uploads/${secret}/${file.filename}`;
  const shows = /\.(png|jpe?g|gif|svg|webp|mp4|webm)$/i.test(file.filename);
  const alt = shows ? file.filename.replace(/\.[^.]+$/, "") : file.filename;
  const picture = shows ? "!" : "";
  return created({ id, alt, url, full_path: `${path}${url}`, markdown: `${picture}[${alt}](${url})`, web_path: `/${web}${url}` });
}

function list(request: Request): Reply {
  const { key } = home(request, ROLE.maintainer);
  const rows = uploadsOf(request.world).filter((row) => row.home === key);
  return paged(request, rows, ({ id, file, created_at, user_id }) => ({
    id,
    size: file.bytes.length,
    filename: file.filename,
    created_at,
    uploaded_by: userBasic(request.world, user_id),
  }));
}

function download(request: Request): Reply {
  const { file } = one(request);
  return binary(file.bytes, file.type, { "content-disposition": `attachment; filename="${file.filename}"` });
}

function remove(request: Request): Reply {
  const rows = uploadsOf(request.world);
  rows.splice(rows.indexOf(one(request, ROLE.maintainer)), 1);
  return noContent();
}

const rows = (base: string): Behaviour[] => [
  get(`${base}/uploads`, list),
  post(`${base}/uploads`, create),
  get(`${base}/uploads/{upload_id}`, download),
  del(`${base}/uploads/{upload_id}`, remove),
  get(`${base}/uploads/{secret}/{filename}`, download),
  del(`${base}/uploads/{secret}/{filename}`, remove),
];

export const uploadBehaviours: readonly Behaviour[] = [...rows("/projects/{project_id}"), ...rows("/groups/{group_id}")];
