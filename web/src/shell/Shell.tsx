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
import { answered, api } from "../api/client";
import { isSignedOut, may, type OpenProject, type Session, sessionQuery } from "../api/session";
import { Button } from "../ui/Button";
import { useOpenKeyHelp } from "../ui/Keys";
import { Loaded, Wrong } from "../ui/Loaded";
import { Entry, Menu } from "../ui/Menu";
import { Links, Nav } from "../ui/Nav";
import { State } from "../ui/State";
import { useTell } from "../ui/Toast";
import { useTitle } from "../ui/title";
import { NewPassword } from "./NewPassword";
import { NewProject } from "./NewProject";
import styles from "./Shell.module.css";
import { setTheme, THEMES, theme } from "./theme";

const LAST = "jurist.project";

export function Root() {
  return <Outlet />;
}

/** `/` leads to the project one was in last. */
export function Home() {
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
    <Framed session={session}>
      <State title="No project is open to you">
        <p>Ask whoever invited you to add you to one.</p>
      </State>
    </Framed>
  );
}

/** What surrounds every page of a project; pages below it find a session and a project. */
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
      <Framed session={undefined}>
        <Loaded query={session} what="your projects">
          {() => null}
        </Loaded>
      </Framed>
    );
  }
  return (
    <Framed session={session.data} project={project}>
      {project ? (
        <Outlet />
      ) : (
        <State title="There is no such project">
          <p>
            No project named <b>{name}</b> is open to you. <Link to="/">See what is.</Link>
          </p>
        </State>
      )}
    </Framed>
  );
}

/** Signing in leads back to where one was. Once: the address is about to change. */
function ToSignIn() {
  const router = useRouter();
  useEffect(() => {
    router.navigate({ to: "/sign-in", search: { next: router.state.location.href }, replace: true });
  }, [router]);
  return null;
}

export function NotFound() {
  const session = useQuery(sessionQuery);
  return (
    <Framed session={session.data}>
      <State title="There is no such page">
        <p>
          The address may be mistyped. <Link to="/">Start from the beginning.</Link>
        </p>
      </State>
    </Framed>
  );
}

type FramedProps = { session: Session | undefined; project?: OpenProject; children: ReactNode };

function Framed({ session, project, children }: FramedProps) {
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <header className={styles.bar}>
        <Link to="/" className={styles.word}>
          Jurist
        </Link>
        {session && project && <Projects session={session} project={project} />}
        {project && <Pages project={project} hidesAdministration={isJoinedByName(session)} />}
        <Account session={session} />
      </header>
      <Reachable />
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
] as const;
const KEEP = [
  { to: "/p/$project/budget", label: "Budget" },
  { to: "/p/$project/alerts", label: "Alerts" },
] as const;

/** Every page of the project that is open to whoever asks, by what one comes for. */
function Pages({ project, hidesAdministration }: { project: OpenProject; hidesAdministration: boolean }) {
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
  // Whoever chose a page has no more need of the list.
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
            <Group title="Look">
              <Link to="/p/$project" params={params} activeOptions={{ exact: true, includeSearch: false }}>
                Overview
              </Link>
              <Links params={params} pages={LOOK} />
            </Group>
          )}
          {may(project, "read") && (
            <Group title="Measure">
              <Links params={params} pages={MEASURE} />
              {may(project, "annotate") && <Annotate params={params} />}
            </Group>
          )}
          {!may(project, "read") && may(project, "annotate") && <Annotate params={params} />}
          {may(project, "read") && !hidesAdministration && (
            <Group title="Keep">
              <Links params={params} pages={KEEP} />
              {may(project, "manage") && (
                <Link to="/p/$project/settings" params={params}>
                  Settings
                </Link>
              )}
            </Group>
          )}
        </Nav>
      </div>
    </div>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.group}>
      <span className={styles.groupName}>{title}</span>
      {children}
    </div>
  );
}

function Annotate({ params }: { params: { project: string } }) {
  return (
    <Link to="/p/$project/annotate" params={params}>
      Annotate
    </Link>
  );
}

function Projects({ session, project }: { session: Session; project: OpenProject }) {
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
                <Entry close={close} onChoose={() => setAdding(true)}>
                  New project…
                </Entry>
              </>
            )}
          </>
        )}
      </Menu>
      {adding && <NewProject project={project} onClose={() => setAdding(false)} />}
    </>
  );
}

/** An account that was made by joining a task under a name has neither an e-mail address nor a password. */
const NO_EMAIL = "@annotators.invalid";
const isJoinedByName = (session: Session | undefined): boolean =>
  session?.account?.email.endsWith(NO_EMAIL) === true;

function Account({ session }: { session: Session | undefined }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const openKeys = useOpenKeyHelp();
  const tell = useTell();
  const [chosen, setChosen] = useState(theme);
  const [changing, setChanging] = useState(false);
  const signOut = async () => {
    try {
      await answered(api(null).DELETE("/api/v1/session"));
    } catch (error) {
      // Whoever was signed out meanwhile has what they want.
      if (!isSignedOut(error)) return tell("You are still signed in: the server does not answer.", "fail");
    }
    queries.clear();
    await navigate({ to: "/sign-in" });
  };
  const name = session?.account?.name ?? "This machine";
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
              <div className={styles.who}>An open server: whoever is at this machine may do anything.</div>
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
            <Entry close={close} onChoose={openKeys}>
              Keys <kbd>?</kbd>
            </Entry>
            {session?.account && (
              <>
                {email && (
                  <Entry close={close} onChoose={() => setChanging(true)}>
                    Change password…
                  </Entry>
                )}
                <Entry close={close} onChoose={signOut}>
                  Sign out
                </Entry>
              </>
            )}
          </>
        )}
      </Menu>
      {changing && <NewPassword onClose={() => setChanging(false)} />}
    </div>
  );
}

/** Says so while the server is away, above whatever is still on the page. */
function Reachable() {
  const session = useQuery(sessionQuery);
  if (!session.data || !session.error || isSignedOut(session.error)) return null;
  return (
    <div className={styles.gone}>
      <Wrong error={session.error} onRetry={() => session.refetch()} />
    </div>
  );
}

/** The head of a page: what it is, and what can be done there. */
export function PageHead({
  up,
  title,
  about,
  children,
}: {
  /** A link to what it belongs to. */
  up?: ReactNode;
  title: ReactNode;
  about?: ReactNode;
  children?: ReactNode;
}) {
  useTitle(typeof title === "string" ? title : undefined);
  return (
    <div className={styles.head}>
      <div>
        {up && <p className={styles.up}>{up}</p>}
        <h1>{title}</h1>
        {about && <div className={styles.about}>{about}</div>}
      </div>
      {children && <div className={styles.doing}>{children}</div>}
    </div>
  );
}

/** More rows of a list. */
export function More({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => void };
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className={styles.more}>
      <Button onClick={() => query.fetchNextPage()} disabled={query.isFetchingNextPage}>
        {query.isFetchingNextPage ? "Loading…" : "Show more"}
      </Button>
    </div>
  );
}
