import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Navigate, Outlet, useNavigate, useParams, useRouter } from "@tanstack/react-router";
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { api, unwrap } from "../api/client";
import { isSignedOut, may, type OpenProject, type Session, sessionQuery } from "../api/session";
import { BookLink, bookAddress } from "../ui/BookLink";
import { Button } from "../ui/Button";
import { type KeyGroup, useKeyHelp, useOpenKeyHelp } from "../ui/KeyHelp";
import { KeyName } from "../ui/KeyName";
import { ErrorNotice, Loaded, PageErrorNotice } from "../ui/Loaded";
import { Menu, MenuItem } from "../ui/Menu";
import { Nav, PageLinks } from "../ui/Nav";
import { Notice } from "../ui/Notice";
import { useToast } from "../ui/Toast";
import { ChangePasswordDialog } from "./ChangePasswordDialog";
import { GoToDialog } from "./GoToDialog";
import { NewProjectDialog } from "./NewProjectDialog";
import styles from "./Shell.module.css";
import { setTheme, THEMES, theme } from "./theme";

const LAST = "jurist.project";

export function RootLayout() {
  return <Outlet />;
}

/** `/` opens the project that was open last. */
export function HomePage() {
  const session = useQuery(sessionQuery);
  if (isSignedOut(session.error)) return <Navigate to="/sign-in" />;
  return (
    <Loaded query={session} what="your projects">
      {({ projects }) => {
        const last = localStorage.getItem(LAST);
        const project = projects.find((it) => it.name === last) ?? projects[0];
        if (!project) return <NoProject session={session.data} />;
        return <Navigate to="/p/$project" params={{ project: project.name }} replace />;
      }}
    </Loaded>
  );
}

function NoProject({ session }: { session: Session | undefined }) {
  return (
    <AppFrame session={session}>
      <Notice title="You have no access to a project">
        <p>Ask an owner of a project to add you as a member.</p>
        <p>
          <BookLink page="server.html#accounts-roles-and-tokens">Accounts, roles and tokens</BookLink>
        </p>
      </Notice>
    </AppFrame>
  );
}

/** The frame of every page of a project; pages inside it always have a session and a project. */
export function ProjectShell() {
  const { project: name } = useParams({ from: "/p/$project" });
  const session = useQuery(sessionQuery);
  const project = session.data?.projects.find((it) => it.name === name);
  useEffect(() => {
    if (project) localStorage.setItem(LAST, project.name);
  }, [project]);
  if (isSignedOut(session.error)) return <ToSignIn />;
  if (!session.data) {
    return (
      <AppFrame session={undefined}>
        <Loaded query={session} what="your projects">
          {() => null}
        </Loaded>
      </AppFrame>
    );
  }
  return (
    <AppFrame session={session.data} project={project}>
      {project ? (
        <Outlet />
      ) : (
        <Notice title="Project not found">
          <p>
            There is no project <b>{name}</b>, or you are not a member of it.{" "}
            <Link to="/">Open one of your projects.</Link>
          </p>
        </Notice>
      )}
    </AppFrame>
  );
}

/** After signing in, the person returns to this address. Runs once, because the address changes. */
function ToSignIn() {
  const router = useRouter();
  useEffect(() => {
    router.navigate({ to: "/sign-in", search: { next: router.state.location.href }, replace: true });
  }, [router]);
  return null;
}

export function NotFoundPage() {
  const session = useQuery(sessionQuery);
  return (
    <AppFrame session={session.data}>
      <NotFoundNotice />
    </AppFrame>
  );
}

/** Inside a project, the pages of the project stay within reach. */
export function NotFoundNotice() {
  const { project } = useParams({ strict: false });
  return (
    <Notice title="Page not found">
      <p>There is no page at this address. The link may be old, or a part of it is missing.</p>
      <p>
        <Link to="/">Open the first page</Link>,{" "}
        {project && (
          <>
            press <KeyName name="Ctrl K" /> to find a page by name,{" "}
          </>
        )}
        or read <BookLink page="web.html">what the pages are for</BookLink>.
      </p>
    </Notice>
  );
}

/** Shown instead of a page that failed while it was drawn or loaded; the frame and its links stay. */
export function FailedPage({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  // Another page is tried afresh.
  useEffect(() => router.subscribe("onBeforeNavigate", reset), [router, reset]);
  return <PageErrorNotice error={error instanceof Error ? error : new Error(String(error))} />;
}

const GO_TO_KEY: KeyGroup = {
  title: "Navigation",
  keys: [{ keys: ["Ctrl K"], does: "go to a page by name" }],
};

type GoToKeyProps = { project: OpenProject; isOpen: boolean; onOpenChange: (isOpen: boolean) => void };

/** Ctrl+K opens the dialog that goes to a page by its name. */
function GoToKey({ project, isOpen, onOpenChange: setOpen }: GoToKeyProps) {
  useKeyHelp(GO_TO_KEY);
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [setOpen]);
  return isOpen && <GoToDialog project={project} onClose={() => setOpen(false)} />;
}

type AppFrameProps = { session: Session | undefined; project?: OpenProject; children: ReactNode };

function AppFrame({ session, project, children }: AppFrameProps) {
  const [isGoing, setGoing] = useState(false);
  const hasGoTo = project !== undefined && may(project, "read");
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <header className={styles.bar}>
        <Link to="/" className={styles.word}>
          Jurist
        </Link>
        {hasGoTo && <GoToKey project={project} isOpen={isGoing} onOpenChange={setGoing} />}
        {session && project && <ProjectMenu session={session} project={project} />}
        {project && <PageNav project={project} hidesAdministration={isJoinedByName(session)} />}
        <AccountMenu session={session} onGoTo={hasGoTo ? () => setGoing(true) : undefined} />
      </header>
      <ServerGoneBanner />
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

const LOOK = [
  { to: "/p/$project/monitors", label: "Monitors" },
  { to: "/p/$project/traces", label: "Traces" },
] as const;
const MEASURE = [
  { to: "/p/$project/runs", label: "Runs" },
  { to: "/p/$project/ranking", label: "Ranking" },
  { to: "/p/$project/rubrics", label: "Rubrics" },
  { to: "/p/$project/datasets", label: "Datasets" },
] as const;
const KEEP = [
  { to: "/p/$project/budget", label: "Budget" },
  { to: "/p/$project/alerts", label: "Alerts" },
] as const;

/** The pages of the project that the role allows, grouped by purpose. */
function PageNav({ project, hidesAdministration }: { project: OpenProject; hidesAdministration: boolean }) {
  const params = { project: project.name };
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return;
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [isOpen]);
  // Choosing a page closes the list.
  const onClick = (event: MouseEvent) => {
    if (event.target instanceof HTMLAnchorElement) setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys and clicks of the list inside arrive here.
    <div ref={root} className={styles.pages} onKeyDown={onKeyDown} onClick={onClick}>
      <Button
        look="quiet"
        className={styles.open}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen((it) => !it)}
      >
        Pages ▾
      </Button>
      <div id={id} className={styles.groups} data-open={isOpen || undefined}>
        <Nav label="Pages" look="bar">
          {may(project, "read") && (
            <NavGroup title="Observe">
              <Link to="/p/$project" params={params} activeOptions={{ exact: true, includeSearch: false }}>
                Overview
              </Link>
              <PageLinks params={params} pages={LOOK} />
            </NavGroup>
          )}
          {may(project, "read") && (
            <NavGroup title="Evaluate">
              <PageLinks params={params} pages={MEASURE} />
              {may(project, "annotate") && <AnnotateLink params={params} />}
            </NavGroup>
          )}
          {!may(project, "read") && may(project, "annotate") && <AnnotateLink params={params} />}
          {may(project, "read") && !hidesAdministration && (
            <NavGroup title="Administer">
              <PageLinks params={params} pages={KEEP} />
              {may(project, "manage") && (
                <Link to="/p/$project/settings" params={params}>
                  Settings
                </Link>
              )}
            </NavGroup>
          )}
        </Nav>
      </div>
    </div>
  );
}

function NavGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.group}>
      <span className={styles.groupName}>{title}</span>
      {children}
    </div>
  );
}

function AnnotateLink({ params }: { params: { project: string } }) {
  return (
    <Link to="/p/$project/annotate" params={params}>
      Annotate
    </Link>
  );
}

function ProjectMenu({ session, project }: { session: Session; project: OpenProject }) {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <Menu
        label={`Project: ${project.name}`}
        button={
          <>
            <span className={styles.project}>{project.name}</span> ▾
          </>
        }
      >
        {(close) => (
          <>
            {session.projects.map((it) => (
              <Link
                key={it.id}
                role="menuitemradio"
                aria-checked={it.id === project.id}
                to="/p/$project"
                params={{ project: it.name }}
                onClick={close}
              >
                {it.name}
              </Link>
            ))}
            {may(project, "manage") && (
              <>
                <hr />
                <MenuItem close={close} onChoose={() => setAdding(true)}>
                  New project…
                </MenuItem>
              </>
            )}
          </>
        )}
      </Menu>
      {adding && <NewProjectDialog project={project} onClose={() => setAdding(false)} />}
    </>
  );
}

/** Accounts that were created by joining a task with a name have no e-mail address and no password. */
const NO_EMAIL = "@annotators.invalid";
const isJoinedByName = (session: Session | undefined): boolean =>
  session?.account?.email.endsWith(NO_EMAIL) === true;

type AccountMenuProps = { session: Session | undefined; onGoTo: (() => void) | undefined };

function AccountMenu({ session, onGoTo }: AccountMenuProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const openKeys = useOpenKeyHelp();
  const toast = useToast();
  const [chosen, setChosen] = useState(theme);
  const [changing, setChanging] = useState(false);
  const signOut = async () => {
    try {
      await unwrap(api(null).DELETE("/api/v1/session"));
    } catch (error) {
      // Already signed out: nothing to report.
      if (!isSignedOut(error))
        return toast("You are still signed in, because the server does not answer.", "fail");
    }
    queries.clear();
    await navigate({ to: "/sign-in" });
  };
  const name = session?.account?.name ?? "Local user";
  const email = isJoinedByName(session) ? undefined : session?.account?.email;
  return (
    <div className={styles.account}>
      <Menu
        label={session ? `Account: ${name}` : "Menu"}
        button={<>{session ? name : "Menu"} ▾</>}
        align="end"
      >
        {(close) => (
          <>
            {email && <div className={styles.who}>{email}</div>}
            {session && !session.account && (
              <div className={styles.who}>
                This server runs without accounts: everybody who can reach it may do everything.
              </div>
            )}
            {THEMES.map((it) => (
              <button
                key={it.name}
                type="button"
                role="menuitemradio"
                aria-checked={it.name === chosen}
                onClick={() => {
                  setTheme(it.name);
                  setChosen(it.name);
                }}
              >
                {it.label}
              </button>
            ))}
            <hr />
            {onGoTo && (
              <MenuItem close={close} onChoose={onGoTo}>
                Go to… <KeyName name="Ctrl K" />
              </MenuItem>
            )}
            <MenuItem close={close} onChoose={openKeys}>
              Help <kbd>?</kbd>
            </MenuItem>
            <a
              role="menuitem"
              href={bookAddress("index.html")}
              target="_blank"
              rel="noreferrer"
              onClick={close}
            >
              Documentation
            </a>
            {session?.account && (
              <>
                {email && (
                  <MenuItem close={close} onChoose={() => setChanging(true)}>
                    Change password…
                  </MenuItem>
                )}
                <MenuItem close={close} onChoose={signOut}>
                  Sign out
                </MenuItem>
              </>
            )}
          </>
        )}
      </Menu>
      {changing && <ChangePasswordDialog onClose={() => setChanging(false)} />}
    </div>
  );
}

/** Shown while the server does not answer, above the page. */
function ServerGoneBanner() {
  const session = useQuery(sessionQuery);
  if (!session.data || !session.error || isSignedOut(session.error)) return null;
  return (
    <div className={styles.gone}>
      <ErrorNotice error={session.error} onRetry={() => session.refetch()} />
    </div>
  );
}
