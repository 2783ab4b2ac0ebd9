"""The commands that README.md and docs/ show: run here, run by other tests, and what the rest needs.

A page marks what its own test runs as ```` ```sh ````; everything else stands here.
"""

from collections.abc import Mapping

RUN: Mapping[str, str] = {
    "ccgym doctor": "ccgym doctor || test $? = 1",  # 1: something is missing here
    "ccgym emulators": "",
    "ccgym oracle --emulator NAME": "ccgym oracle --emulator calibrated/nepal",
    "ccgym reproduce --help": "",
    "ccgym reproduce california-stanford": "ccgym reproduce california-stanford --quick --out stanford",
    "ccgym schemes": "",
    "ccgym score SCHEME": "ccgym score vegas --emulators field",
    "ccgym train --config indigo2 --set architecture=mlp --set 'hidden=[64, 64]' --set iterations=650 "
    "--out mlp": (
        "ccgym train --config indigo2 --set architecture=mlp --set 'hidden=[64, 64]' --set iterations=1 "
        "--set environments=8 --set variations=1 --set random_emulators=8 --set fading_emulators=4 "
        "--set evaluation_interval=1 --set evaluation_seconds=1 --set validation=validation/7mbps-15ms "
        "--set monitored=validation/7mbps-15ms --emulators calibrated/nepal --out mlp"
    ),
    'python -c "import ccgym.envs.gym.path_env as e; help(e.PathEnv)"': "",
    "python examples/SCRIPT.py --help": "python examples/dagger_in_pytorch.py --help",  # all run in tests
}
"""As a page shows it: as it is run, where placeholders or sizes make a difference."""

ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "agents/test_policy_file.py::test_bare_weights_become_a_policy": (
        "python tests/agents/convert_weights.py WEIGHTS indigo2018.safetensors",
        "ccgym eval --schemes policy:indigo2018.safetensors,indigo --emulators synthetic --out indigo2018",
    ),
    "bench/test_ns3.py::test_a_cubic_flow_of_ns3_fills_its_link": ("ccgym reproduce ns3-cross-validation",),
    "cli/measuring/test_bench.py::test_prints_what_scripts_rely_on": (
        "ccgym bench",
        "ccgym bench twin env schemes sender tunnel",
        "make bench",
    ),
    "cli/measuring/test_bench.py::test_measures_every_scheme_of_the_table_and_one_in_python": (
        "ccgym bench schemes",
    ),
    "cli/measuring/test_eval.py::test_the_leaderboard_of_all_schemes_marks_those_that_cannot_run": (
        "ccgym eval --schemes all --emulators all --out leaderboard",
        "ccgym eval --schemes indigo2,indigo,aurora,copa,cubic --emulators synthetic,calibrated --no-logs "
        "--out seen",
        "ccgym eval --schemes indigo2,indigo,aurora,copa,cubic --emulators random:100:4711 --no-logs "
        "--out unseen",
        "ccgym eval --schemes aurora,copa,cubic --emulators aurora --no-logs --out aurora",
    ),
    "cli/measuring/test_eval.py::test_eval_in_real_mahimahi_writes_data_and_report": (
        "ccgym eval --schemes run:runs/indigo2,copa,kernel-bbr,kernel-cubic --emulators calibrated --backend "
        "mahimahi --out results",
        "ccgym eval --schemes indigo2,copa,kernel-bbr,kernel-cubic --emulators field,calibrated --backend "
        "mahimahi --runs 3 --out results",
    ),
    "cli/measuring/test_eval.py::test_flows_that_share_a_link_in_real_mahimahi": (
        "ccgym eval --schemes copa,copa+kernel-cubic --flows 3 --interval 10 --emulators field --backend "
        "mahimahi --out shared",
    ),
    "cli/test_bad_inputs.py::test_every_bad_input_is_answered_in_one_line": (
        "CCGYM_BAD_INPUTS=2000 .venv/bin/pytest tests/cli/test_bad_inputs.py",
    ),
    "dagger/test_training.py::test_tensorboard_shows_the_numbers_of_metrics_jsonl": (
        "tensorboard --logdir runs",
    ),
    "deploy/test_export.py::test_a_scheme_is_added_to_pantheon": (
        "ccgym export RUN --pantheon DIR --name NAME",
        "ccgym export runs/indigo2 --pantheon ~/pantheon --name my_indigo",
    ),
    "deploy/test_sb3_models.py::test_a_saved_model_is_exported_as_a_scheme": (
        "ccgym export model.zip --name mine",
        "ccgym export ppo.zip --name my_ppo",
    ),
    "docs/test_figures.py::test_a_figure_is_drawn": (
        ".venv/bin/python etc/docs_figures.py",
        ".venv/bin/python etc/docs_figures.py emulators",
        ".venv/bin/python etc/docs_figures.py features",
        ".venv/bin/python etc/docs_figures.py imitation",
        ".venv/bin/python etc/docs_figures.py metrics",
        ".venv/bin/python etc/docs_figures.py oracle",
        ".venv/bin/python etc/docs_figures.py preference",
        ".venv/bin/python etc/docs_figures.py schemes",
        ".venv/bin/python etc/docs_figures.py sharing",
        ".venv/bin/python etc/docs_figures.py splits",
        ".venv/bin/python etc/docs_figures.py twin",
    ),
    "docs/test_pages.py::test_what_a_page_says_works_as_printed": (
        "ccgym compare A B [C …]",
        "ccgym report DIR",
    ),
    "docs/test_pages.py::test_every_page_is_reached_from_the_start_page": ("make docs",),
    "envs/logs/test_replay.py::test_queue_of_the_header": (
        "ccgym replay LOG --trace FILE",
        "ccgym replay LOG --trace FILE --json",
    ),
    "evaluation/backends/tunnelled/test_remote.py::test_flows_of_several_schemes_in_both_directions": (
        "ccgym eval --remote me@far-away --schemes indigo2,copa,kernel-bbr --runs 5 --out path",
    ),
    "evaluation/report/test_live.py::test_a_browser_follows_it_to_the_end": (
        "ccgym eval --schemes all --emulators all --out leaderboard --serve",
    ),
    "evaluation/sessions/test_cluster.py::test_the_figures_are_those_of_this_machine": (
        "ccgym eval --schemes all --emulators random:10000 --ray HOST:6379 --out big",
        "ray start --head",
        "ray start --address HOST:6379",
    ),
    "examples/test_search.py::test_a_search_goes_uphill": (
        "python examples/search/search.py --generations 50 --out found.py --figure search.svg",
    ),
    "examples/test_training_examples.py::test_an_example_runs_to_its_end": (
        "python examples/random_agent.py",
        "python examples/sb3_ppo.py",
        "python examples/twelve_links.py",
    ),
    "experiments/acceptance/test_adversary.py::test_what_is_found_can_be_run": (
        "ccgym reproduce adversary --scheme indigo2,copa --out worst",
        "ccgym reproduce adversary --scheme indigo2,copa,bbr,cubic --generations 6 --seed 20261123 "
        "--out worst",
    ),
    "experiments/acceptance/test_competition.py::test_cubic_takes_as_long_as_itself": (
        "ccgym reproduce completion-times",
    ),
    "experiments/acceptance/test_competition.py::test_it_is_printed_with_its_seed_and_intervals": (
        "ccgym reproduce competition",
        "ccgym reproduce competition --fresh",
    ),
    "experiments/acceptance/test_evidence.py::test_the_page_holds_every_check_and_its_command": (
        "ccgym reproduce evidence --seed 1 --random 300 --contested 300 --real-mahimahi real",
        "ccgym reproduce policy-checks",
        "ccgym reproduce policy-checks --fresh",
        "ccgym reproduce policy-checks --scheme run:mlp",
    ),
    "experiments/acceptance/test_preference_curve.py::test_the_experiment_runs_all_three_and_checks_them": (
        "ccgym reproduce preference-curve",
    ),
    "experiments/acceptance/test_real_mahimahi.py::test_the_cells_are_run_and_checked": (
        "ccgym reproduce real-mahimahi --out real",
        "ccgym reproduce real-mahimahi --runs 3 --out real",
    ),
    "experiments/acceptance/test_real_mahimahi.py::test_the_page_of_evidence_has_a_section": (
        "ccgym reproduce evidence --real-mahimahi real",
    ),
    "experiments/calibration/test_known_truth.py::test_a_known_emulator_is_found_again": (
        "ccgym reproduce calibration-truth --out truth",
    ),
    "experiments/cross_validation/test_cross_validation.py::test_copa_runs_as_its_authors_program": (
        "ccgym reproduce copa-cross-validation",
    ),
    "experiments/cross_validation/test_cross_validation.py::test_no_recorded_trace_is_needed": (
        "ccgym reproduce published-cross-validation",
    ),
    "experiments/cross_validation/test_cross_validation.py::"
    "test_the_kernel_is_compared_with_only_what_it_has": (
        "ccgym reproduce kernel-cross-validation --out kernel",
    ),
    "experiments/cross_validation/test_short_flows.py::test_one_link_in_real_mahimahi": (
        "ccgym reproduce short-flows",
    ),
    "experiments/cross_validation/test_tunnel_transparency.py::"
    "test_experiment_runs_both_sides_and_prints_p_values": (
        "ccgym reproduce tunnel-transparency --out transparency",
    ),
    "experiments/cross_validation/test_twin_parity.py::test_oracle_table_prints_every_published_emulator": (
        "ccgym reproduce oracle-table",
    ),
    "experiments/cross_validation/test_twin_parity.py::test_twin_parity_runs_both_and_compares": (
        "ccgym reproduce twin-parity --out parity",
    ),
    "experiments/publications/test_reproductions.py::test_every_metric_of_the_page_of_ccperf_has_a_line": (
        "ccgym reproduce replay-rate-trace",
    ),
    "experiments/publications/test_reproductions.py::test_copa_shares_a_link_as_its_paper_says": (
        "ccgym reproduce copa-fairness",
    ),
    "experiments/publications/test_reproductions.py::test_copas_table_of_any_archive": (
        "ccgym reproduce copa-pantheon",
    ),
    "experiments/publications/test_reproductions.py::"
    "test_what_each_parameter_of_an_emulator_is_worth_stands_beside_the_papers_figures": (
        "ccgym reproduce calibration-ablation --out ablation",
        "ccgym reproduce pantheon-paper",
    ),
    "experiments/training/test_seed_spread.py::test_it_trains_each_seed_once_and_runs_all": (
        "ccgym reproduce seed-spread --out spread",
    ),
    "packaging/test_adding_a_controller.py::test_one_file_pair_one_line_and_one_test_make_a_scheme": (
        "make build && ccgym schemes check NAME && ccgym score NAME",
    ),
    "packaging/test_adding_a_queue.py::test_one_file_pair_and_one_line_make_a_queue_of_the_twin": (
        "make build && ccgym eval --schemes cubic --emulators file:mine.yaml --out results",
    ),
    "packaging/test_library.py::test_the_example_is_built_on_the_installed_libraries_and_runs": (
        "cmake --install build --component library --prefix ~/ccgym-prefix",
        "cmake -S examples/my_controller -B build/mine -DCMAKE_PREFIX_PATH=$HOME/ccgym-prefix "
        "-DCMAKE_BUILD_TYPE=Release",
        "cmake --build build/mine",
        "build/mine/my_controller",
    ),
    "packaging/test_pre_commit.py::test_the_hooks_run_what_make_check_runs": ("make check",),
    "packaging/test_setup_scripts.py::test_the_kernel_is_set_by_root_and_left_alone_by_others": (
        "sudo etc/prepare-network.sh",
    ),
    "packaging/test_setup_scripts.py::test_without_apt_the_set_up_says_what_is_skipped_and_goes_on": (
        "sudo etc/install-system-packages.sh",
    ),
    "rl/test_aurora.py::test_aurora_fills_the_links_it_was_trained_on": (
        "ccgym eval --schemes aurora --emulators aurora --out results",
    ),
    "rl/test_learning.py::test_a_short_training_beats_random_and_fixed_actions": (
        "ccgym reproduce rl-learns --out rl",
    ),
    "training/runs/test_tracking.py::test_wandb_writes_where_it_is_told_offline": (
        "WANDB_MODE=offline ccgym train --track tensorboard,wandb",
    ),
    "training/test_seams.py::test_ppo_on_a_network_of_ones_own": (
        "ccgym train --algo ppo --set network=mine:Net",
    ),
}
"""The test that runs it, or what it computes, mostly in a smaller size: the commands as pages show them."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "a fresh machine: it sets up the tree that the tests are run in": (
        "git clone ... ccgym && cd ccgym",
        'export PATH="$PWD/.venv/bin:$PATH"',
        "make setup",
        "make setup PYTHON=python3.12",
        "make build",
        "cmake -S ccgym -B build -DCMAKE_BUILD_TYPE=Release",
        "cmake --build build --target twin",
    ),
    "the tests themselves: it runs them, or changes the files that they read": (
        "make test",
        "make quick",
        "make cpp-tests",
        "make format",
    ),
    "clang, and hours": ("make fuzz",),
    "clang-tidy, and minutes": ("make tidy",),
    "a package registry, and a tree with older packages": ("make oldest",),
    "a training of ten minutes or more": (
        "make train",
        "ccgym train",
        "ccgym train --config indigo2 --emulators synthetic,calibrated --seed 1",
        "ccgym train --config indigo-2018 --emulators synthetic,calibrated --seed 1",
        "ccgym train --config aurora --emulators aurora --seed 1",
        "ccgym train --from-calibration path.yaml",
        "ccgym reproduce calibration-benefit",
        "ccgym reproduce indigo-paper",
        "ccgym reproduce seed-spread --config indigo-2018 --out spread",
    ),
    "ten minutes or more, and real mahimahi": ("ccgym reproduce calibration-mahimahi --out mahimahi",),
    "minutes; it is made of experiments that stand here one by one": (
        "ccgym reproduce all",
        "ccgym reproduce all --quick",
        "ccgym reproduce pantheon-emulators",
    ),
    "recorded cellular traces, which come with mahimahi": ("ccgym reproduce verizon-lte",),
    "a quiet machine": (".venv/bin/python etc/measure_scale.py",),
    "half an hour, and a tree to compile anew": (
        ".venv/bin/python etc/ablation.py --links 48 --seed 1795834000",
    ),
    "a browser, and pictures that differ from machine to machine": (
        ".venv/bin/python etc/docs_figures.py report",
        ".venv/bin/python etc/docs_figures.py tensorboard",
    ),
    "a package registry": (
        "pip install 'ccgym[dataset]'",
        "pip install 'ccgym[ray]'",
        "pip install mlflow-skinny",
        "pip install pre-commit && pre-commit install",
        "pip install ray dm-tree lz4 pandas pyarrow tensorboardX",
        "pip install torchrl",
        "pip install wandb",
    ),
    "a checkout of Pantheon, with Python 2": (
        "src/analysis/analyze.py --data-dir DIR/data/GROUP/NAME --include-acklink",
        "install ccgym-tunnel /usr/local/bin/mm-tunnelserver",
        "install ccgym-tunnel /usr/local/bin/mm-tunnelclient",
        "sudo sysctl -w user.max_user_namespaces=1000",
        "sudo src/experiments/test.py local --schemes cubic",
    ),
}
"""What the tests lack: the commands as pages show them."""
