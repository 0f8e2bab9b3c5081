# An invented agent: `quick` guesses sometimes, `careful` rarely, and both less often in their second release.
# The answer depends only on the agent, its release, the question and the trial, so every demo is the same.
# sh agent.sh NAME TRIAL FILE_WITH_THE_QUESTION
name=$1 trial=$2 question=$(cat "$3")
order=$(printf '%s' "$question" | tr -cd 0-9)
luck=$(printf '%s' "$name $question $trial" | cksum | cut -d' ' -f1)
[ "$name" = quick ] && guesses=30 || guesses=6
case $question in *JSON*) is_json=1 guesses=$((guesses / 2)) ;; *) is_json=0 ;; esac
guesses=$((guesses / $(cat release)))
status=$(set -- shipped packed delivered returned && shift $((order % 4)) && echo "$1")
[ $((luck % 100)) -lt "$guesses" ] && status="on its way, probably"
if [ $is_json = 1 ]; then echo "{\"order\": $order, \"status\": \"$status\"}"; else echo "Order $order is $status."; fi
