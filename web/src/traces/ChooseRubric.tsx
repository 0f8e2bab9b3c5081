import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { rubricsQuery } from "../rubrics/queries";
import { Dialog } from "../ui/Dialog";
import { Select } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";

/** Chooses the rubric for a trial; its page shows the cost first. */
export function ChooseRubric({ traces, onClose }: { traces: string[]; onClose: () => void }) {
  const project = useProject();
  const navigate = useNavigate();
  const [{ rubric }, bind] = useFields({ rubric: "" });
  const rubrics = useQuery(rubricsQuery(project.id));
  const lead = () =>
    navigate({
      to: "/p/$project/rubrics/$rubric",
      params: { project: project.name, rubric },
      search: { view: "try", traces },
    });
  return (
    <Dialog title={`Try a rubric on ${plural(traces.length, "trace")}`} onClose={onClose}>
      <Loaded query={rubrics} what="rubrics">
        {(all) =>
          all.length === 0 ? (
            <Notice title="No rubrics yet">
              <p>
                <Link to="/p/$project/new-rubric" params={{ project: project.name }}>
                  Create one
                </Link>
                , or start from a preset.
              </p>
            </Notice>
          ) : (
            <Form asked={{ mutate: lead, error: null, isPending: false }} does="Show cost">
              <Select
                label="Rubric"
                required
                options={[
                  { value: "", label: "choose…" },
                  ...all.filter((it) => !it.archived).map((it) => ({ value: it.id, label: it.name })),
                ]}
                {...bind("rubric")}
              />
            </Form>
          )
        }
      </Loaded>
    </Dialog>
  );
}
